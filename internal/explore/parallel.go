package explore

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Config describes an exploration under many random schedules.
type Config struct {
	// New makes a program. [Config.Run] calls it once for each worker, [Config.Again] once. The programs of different
	// workers run concurrently.
	New func() Runner

	From     int // index of the first run
	Runs     int // the index after the last run
	Seed     uint64
	Strategy Strategy
	Workers  int  // 0 means GOMAXPROCS
	All      bool // continue after the first violation

	// Enough, if not nil, is called with the number of runs begun so far. If it returns true, no more runs are begun.
	// Several workers may call it concurrently.
	Enough func(begun int) bool

	// Block, if positive, is the size of the blocks into which the indexes are divided. The report then contains the
	// first failures of each block (see [Drawn.Failures]).
	Block int

	// Save, if not nil, gets the report of the runs since the last call, and their distinct hashes. It is called on the
	// goroutine that called Run, at most once every SaveEvery, and at the end. Without new runs it is not called. An
	// error ends the exploration.
	Save      func(r *Drawn, hashes []uint64) error
	SaveEvery time.Duration

	// Double means that one in Double runs is repeated and compared. 0 means 64. A negative number means none. A run
	// that violated a law is always repeated.
	Double int

	// Progress, if not nil, is called periodically on the goroutine that called Run.
	Progress func(Progress)
	Every    time.Duration    // time between calls of Progress; 0 means 200ms
	Now      func() time.Time // nil means time.Now
}

const doubleShare = 64

// Run runs schedules until all are done, a law is violated (unless All is set), Enough returns true, or ctx is done. If
// ctx is done, the report contains the runs so far, and Interrupted is set. Run returns a [*Disagreement] if two runs
// of one schedule differ. It also returns an error if the program cannot be run, or if Save returned an error.
func (c Config) Run(ctx context.Context) (*Drawn, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Every == 0 {
		c.Every = 200 * time.Millisecond
	}
	if c.Double == 0 {
		c.Double = doubleShare
	}
	d := &driver{Config: c, plan: Plan{Strategy: c.Strategy, Seed: c.Seed}}
	defer context.AfterFunc(ctx, func() { d.halted.Store(true) })()
	if ctx.Err() != nil { // without this check, a few runs may begin before AfterFunc
		d.halted.Store(true)
	}
	d.last.Store(int64(c.Runs) - 1)
	d.next.Store(int64(c.From))
	first := d.worker()
	if c.Runs > 0 && c.Strategy != Random {
		var unfit error
		if d.plan.Steps, unfit = first.length(); unfit != nil || d.plan.Steps == 0 {
			return &Drawn{From: c.From, Interrupted: true}, unfit
		}
	}
	return d.fold(d.start(first))
}

// Again repeats the failed run with this index. It returns nil if the run does not fail again.
func (c Config) Again(index int) *Failing {
	d := &driver{Config: c, plan: Plan{Strategy: c.Strategy, Seed: c.Seed}}
	w := d.worker()
	if c.Strategy != Random {
		d.plan.Steps, _ = w.length()
	}
	out, _, name := w.run(index)
	if len(out.Findings) == 0 {
		return nil
	}
	return &Failing{Index: index, Seed: SeedAt(c.Seed, index), Strategy: name, Violation: out.Findings[0], Outcome: out,
		Schedule: slices.Clone(w.record.Schedule())}
}

func (c *Config) blockOf(index int) int {
	if c.Block <= 0 {
		return 0
	}
	return index / c.Block
}

// driver is the state that the workers share.
type driver struct {
	Config
	plan   Plan
	next   atomic.Int64 // first index that no worker has taken
	last   atomic.Int64 // last index to run
	halted atomic.Bool
	zero   *attempt // run 0, if it was needed to measure plan.Steps
}

type attempt struct {
	out     *Outcome
	chooser sim.Chooser
	name    string // the strategy's name, from [Plan.At]
	trace   trace
}

// start starts the workers. It returns a channel of results, which is closed when all workers are done.
func (d *driver) start(first *worker) <-chan result {
	n := d.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	results := make(chan result, 64*n)
	var busy sync.WaitGroup
	for i := range n {
		busy.Go(func() {
			w := first
			if i > 0 {
				w = d.worker()
			}
			w.work(results)
		})
	}
	go func() {
		busy.Wait()
		close(results)
	}()
	return results
}

// fold receives the results in any order, and adds them to the report in the order of their indexes.
func (d *driver) fold(results <-chan result) (*Drawn, error) {
	t, part := newTally(d.plan.Steps, d.From), newTally(d.plan.Steps, d.From)
	began := d.Now()
	reported, saved := began, began
	early := map[int]result{}
	var failed error
	for r := range results {
		early[r.index] = r
		for failed == nil && int64(t.next()) <= d.last.Load() {
			r, ok := early[t.next()]
			if !ok {
				break
			}
			delete(early, r.index)
			if failed = r.failed(); r.unfit == nil {
				t.add(&r)
				if d.Save != nil {
					part.add(&r)
				}
			}
		}
		if d.Save != nil && failed == nil && d.Now().Sub(saved) >= d.SaveEvery {
			if failed = d.save(part); failed != nil {
				d.stopAfter(t.next() - 1)
			}
			part, saved = newTally(d.plan.Steps, t.next()), d.Now()
		}
		if d.Progress != nil {
			if now := d.Now(); now.Sub(reported) >= d.Every {
				reported = now
				d.Progress(d.progress(t.report, now.Sub(began)))
			}
		}
	}
	t.report.Interrupted = int64(t.next()) <= d.last.Load()
	if d.Save != nil && failed == nil {
		failed = d.save(part)
	}
	return t.report, failed
}

func (d *driver) save(part *tally) error {
	if part.report.Runs == 0 {
		return nil
	}
	return d.Save(part.report, slices.Collect(maps.Keys(part.hashes)))
}

func (d *driver) progress(r *Drawn, elapsed time.Duration) Progress {
	p := Progress{Runs: r.Runs, Total: d.Runs - d.From, Distinct: r.Distinct, Failed: r.Failed, Elapsed: elapsed}
	if s := elapsed.Seconds(); s > 0 && r.Runs > 0 {
		p.PerSecond = float64(r.Runs) / s
		p.Left = time.Duration(float64(p.Total-r.Runs) / p.PerSecond * float64(time.Second))
	}
	return p
}

// stopAfter makes index the last index to run, unless an earlier index is already the last.
func (d *driver) stopAfter(index int) {
	for {
		last := d.last.Load()
		if int64(index) >= last || d.last.CompareAndSwap(last, int64(index)) {
			return
		}
	}
}

type worker struct {
	*driver
	program Runner
	record  *Recorder
	known   []Violation // the violations that this worker has reported in the current block
	block   int         // index of the current block
}

func (d *driver) worker() *worker {
	w := &worker{driver: d, program: d.New(), record: &Recorder{}}
	w.record.Halt = d.halted.Load
	return w
}

// length executes run 0, and returns the number of its decisions about actions. PCT needs this number. It returns 0 if
// the run was interrupted, or if the program cannot be run. Otherwise it stores run 0 for [worker.one].
func (w *worker) length() (int, error) {
	out, chooser, name := w.run(0)
	if out.Unfit != nil || w.record.Ended() {
		return 0, out.Unfit
	}
	w.zero = &attempt{out, chooser, name, traceOf(w.record, out).clone()}
	return max(len(w.record.Trail()), 1), nil
}

func (w *worker) work(results chan<- result) {
	for {
		i := w.next.Add(1) - 1
		if i > w.last.Load() || w.halted.Load() {
			return
		}
		if w.Enough != nil && w.Enough(int(i)-w.From) {
			w.stopAfter(int(i) - 1)
			return
		}
		r, ok := w.one(int(i))
		if !ok {
			return
		}
		if r.failed() != nil || r.violation != nil && !w.All {
			w.stopAfter(r.index)
		}
		results <- r
	}
}

func (w *worker) run(index int) (*Outcome, sim.Chooser, string) {
	chooser, name := w.plan.At(index)
	w.record.Reset(chooser)
	defer func() {
		if e := recover(); e != nil {
			panic(fmt.Sprintf("run %d (%s, seed %d): %v\n%s", index, name, SeedAt(w.plan.Seed, index), e,
				debug.Stack()))
		}
	}()
	return w.program(w.record), chooser, name
}

// one runs the schedule with this index and returns its result. It repeats the run if the run violated a law or if
// Double selects the index. The second result is false if a run was interrupted.
func (w *worker) one(index int) (result, bool) {
	var first attempt
	known := index == 0 && w.zero != nil
	if known {
		first = *w.zero
	} else {
		first.out, first.chooser, first.name = w.run(index)
		if first.out.Unfit == nil && w.record.Ended() {
			return result{}, false
		}
	}
	out := first.out
	r := result{
		index: index, hash: out.Hash, state: out.State, steps: out.Steps,
		label: out.Label, settled: out.Settled, fight: out.Fight,
	}
	if r.unfit = out.Unfit; r.unfit != nil {
		return r, true
	}
	if p, ok := first.chooser.(*PCT); ok {
		r.depth, r.bound = p.Depth(), p.Bound()
	}
	if len(out.Findings) > 0 {
		r.violation = &out.Findings[0]
	}
	if r.violation == nil && (w.Double < 0 || index%w.Double != 0) {
		return r, true
	}
	if !known {
		first.trace = traceOf(w.record, out).clone()
	}
	again, _, _ := w.run(index)
	if r.unfit = again.Unfit; r.unfit != nil {
		return r, true
	}
	if w.record.Ended() {
		return r, false
	}
	r.doubled = true
	if r.disagree = disagree(first.trace, traceOf(w.record, again)); r.disagree != nil {
		r.disagree.Index, r.disagree.Seed = index, SeedAt(w.plan.Seed, index)
	}
	w.handOver(&r, Failing{
		Index: index, Seed: SeedAt(w.plan.Seed, index), Strategy: first.name,
		Outcome: out, Schedule: first.trace.entries,
	})
	return r, true
}

// handOver adds a failure to the result, unless this worker has already reported the same violation in this block. The
// indexes of a worker ascend, so no worker leaves out the first failure of a block.
func (w *worker) handOver(r *result, f Failing) {
	if r.violation == nil {
		return
	}
	if b := w.blockOf(r.index); b != w.block {
		w.known, w.block = w.known[:0], b
	}
	for _, b := range w.known {
		if b.Same(*r.violation) {
			return
		}
	}
	w.known = append(w.known, *r.violation)
	f.Violation, f.block = *r.violation, w.block
	r.failure = &f
}
