// Package agent runs programs inside a bubble. A world in another process sends the commands. The package is part of
// the overlaid standard library, so no go.mod needs it and no program changes.
package agent

import (
	"bufio"
	"context"
	"fmt"
	"internal/hosted"
	"internal/synctest"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"threelaws/wire"
	"time"
	_ "unsafe" // for linkname
)

// Host runs main by commands of a world if a world hosts the process, and then exits. Otherwise it returns. It is
// called before main begins.
func Host(main func()) {
	HostFunction(func(context.Context) {
		main()
		os.Exit(0)
	})
}

// HostFunction runs a function by commands of a world if a world hosts the process, once in each world, and then exits.
// Otherwise it returns. The function serves until its context ends, and must end its goroutines before it returns.
func HostFunction(run func(context.Context)) {
	if !hosted.On {
		return
	}
	// The runtime locks initialization to the main thread. Switching to or from that thread's goroutine would be slow.
	go serve(run)
	select {}
}

//go:linkname roundTrip net/http.hostedRoundTrip
var roundTrip func(*http.Request) (*http.Response, error)

//go:linkname seedBubble
func seedBubble(seed uint64)

//go:linkname nextTimer
func nextTimer() int64

//go:linkname locked
func locked() bool

//go:linkname deadlock
func deadlock() []uint64

//go:linkname waiting
func waiting() []uint64

//go:linkname goroutine
func goroutine() uint64

//go:linkname closeListeners
func closeListeners()

// serve runs a program by commands until the world closes its pipe.
func serve(run func(context.Context)) {
	if v := os.Getenv(wire.Environment); v != wire.Version {
		fail(fmt.Sprintf("this binary speaks protocol %s, the world %s: build it again", wire.Version, v))
	}
	a := &agent{run: run, args: os.Args, env: os.Environ(), in: bufio.NewReaderSize(pipe(wire.In), 1<<16), out: pipe(wire.Out)}
	a.dir, _ = os.Getwd() // "" if unknown
	roundTrip = a.RoundTrip
	limit()
	hosted.Output = a.output
	runtime.GC() // a collection that runs later would let other goroutines run first
	runtime.GC()
	for {
		m := a.read()
		if op := m.TakeNum(); op != wire.Open {
			panic(fmt.Sprintf("agent: command %c where no world is open", op))
		}
		a.world(m)
	}
}

type agent struct {
	run    func(context.Context)
	args   []string // of the process, like its environment and its directory
	env    []string
	dir    string
	in     io.Reader
	out    io.Writer
	sweeps int
	heap   uint64 // the heap size at which garbage is collected
	stacks []byte // buffer for printing goroutines

	// State of the current world:
	seed     uint64
	commands uint64
	stirred  chan struct{} // belongs to the bubble; signals that the program has sent a request
	dead     chan struct{} // belongs to the bubble
	cancel   context.CancelFunc

	mu      sync.Mutex
	stopped bool // the program's context has ended
	failed  bool // the program's requests fail
	calls   map[int64]*call
	last    int64 // the number of the last call

	withdrawn []int64 // abandoned requests for the next report
}

// world runs one bubble, from Open to Close.
func (a *agent) world(m wire.Message) {
	now := m.TakeNum()
	a.seed, a.commands, a.stopped, a.failed = uint64(m.TakeNum()), 0, false, false
	a.calls, a.last, a.withdrawn, a.cancel = map[int64]*call{}, 0, nil, nil
	a.restore()
	left := ""
	func() {
		defer func() {
			if r := recover(); r != nil { // goroutines were left behind
				left = fmt.Sprint(r)
			}
		}()
		synctest.Run(func() {
			seedBubble(a.seed)
			a.stirred, a.dead = make(chan struct{}, 1), make(chan struct{})
			a.reach(now)
			a.start(m)
			for again := true; again; {
				synctest.Wait()
				a.report()
				a.sweep()
				again = a.obey(a.read())
			}
			synctest.Wait()
		})
	}()
	closeListeners()
	a.collect(leastHeap)
	m = nil
	m.Num(wire.Closed)
	m.Text(left)
	a.write(m)
}

// restore undoes what the last program changed in the process.
func (a *agent) restore() {
	os.Args = a.args
	os.Clearenv()
	for _, v := range a.env {
		a.set(v)
	}
	if a.dir != "" {
		_ = os.Chdir(a.dir) // it fails only if the directory has been removed
	}
}

// set sets NAME=value in the environment.
func (a *agent) set(v string) {
	for i := range v {
		if v[i] == '=' {
			_ = os.Setenv(v[:i], v[i+1:]) // no error, because the value was in an environment
			return
		}
	}
}

// farewell is the virtual time in which goroutines may notice that their world has ended.
const farewell = 10 * time.Second

// obey executes a command on the bubble's main goroutine. It returns false at the end of the world.
func (a *agent) obey(m wire.Message) bool {
	op, now := m.TakeNum(), m.TakeNum()
	// Each command has its own random sequence, so that numbers used by an earlier world change nothing.
	a.commands++
	seedBubble((a.seed+1)*0x9e3779b97f4a7c15 + a.commands*0xbf58476d1ce4e5b9)
	if op == wire.Pass {
		a.pass(now)
		return true
	}
	a.reach(now)
	switch op {
	case wire.Reply:
		a.reply(m)
	case wire.Chunk:
		c := a.calls[m.TakeNum()]
		end := m.TakeFlag()
		c.stream.send(end, m.TakeBytes())
	case wire.Call:
		a.webhook(m)
	case wire.Stacks:
		a.dump(m.TakeFlag())
	case wire.Close:
		a.end()
		return false
	default:
		panic(fmt.Sprintf("agent: there is no command %c", op))
	}
	return true
}

// end ends the program. First its context ends, so that queues and other users of the context stop. Then its requests
// fail.
func (a *agent) end() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.cancel()
	synctest.Wait()
	a.mu.Lock()
	a.failed = true
	a.mu.Unlock()
	close(a.dead)
	time.Sleep(farewell)
}

func (a *agent) reach(now int64) {
	if d := now - time.Now().UnixNano(); d > 0 {
		time.Sleep(time.Duration(d))
	}
}

// pass lets time pass until a time, or until the program sends a request or ends.
func (a *agent) pass(to int64) {
	select {
	case <-a.stirred:
	default:
	}
	timer := time.NewTimer(time.Duration(to - time.Now().UnixNano()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.stirred:
	}
}

// stir makes pass return.
func (a *agent) stir() {
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

func (a *agent) start(m wire.Message) {
	_ = os.Setenv("HOSTNAME", m.TakeText()) // no error, because the name is valid
	for n := m.TakeNum(); n > 0; n-- {
		a.set(m.TakeText())
	}
	if n := m.TakeNum(); n > 0 {
		os.Args = append([]string(nil), a.args[0])
		for ; n > 0; n-- {
			os.Args = append(os.Args, m.TakeText())
		}
	}
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(context.Background())
	go a.run(ctx)
}

// report sends what happened after the last report.
func (a *agent) report() {
	var m wire.Message
	m.Num(wire.Report)
	m.Num(time.Now().UnixNano())
	m.Num(nextTimer())
	m.Flag(locked())
	a.mu.Lock()
	m.Num(int64(len(a.withdrawn)))
	for _, id := range a.withdrawn {
		m.Num(id)
		delete(a.calls, id)
	}
	a.withdrawn = a.withdrawn[:0]
	a.mu.Unlock()
	a.write(m)
}

// dump sends the program's goroutines that are deadlocked, those that wait for something outside of the bubble, and all
// stacks. If text is false and there is no deadlock, it sends nothing.
func (a *agent) dump(text bool) {
	circle := deadlock()
	if circle == nil && !text {
		return
	}
	var m wire.Message
	m.Num(wire.Dump)
	for _, numbers := range [][]uint64{circle, waiting()} {
		m.Num(int64(len(numbers)))
		for _, g := range numbers {
			m.Num(int64(g))
		}
	}
	n := runtime.Stack(a.stacks, true)
	for n == len(a.stacks) { // the text was cut short
		a.stacks = make([]byte, max(2*n, 1<<16))
		n = runtime.Stack(a.stacks, true)
	}
	m.Bytes(a.stacks[:n])
	a.write(m)
}

// output sends the program's output.
func (a *agent) output(b []byte) {
	var m wire.Message
	m.Num(wire.Output)
	m.Bytes(b)
	a.write(m)
}

func (a *agent) write(m wire.Message) {
	if err := m.Write(a.out); err != nil {
		fail("it lost its connection to the world: " + err.Error())
	}
}

func (a *agent) read() wire.Message {
	m, err := wire.Read(a.in)
	if err == io.EOF {
		os.Exit(0) // the world has ended
	} else if err != nil {
		fail("it lost its connection to the world: " + err.Error())
	}
	return m
}

// fail ends the process with a line for the world to print.
func fail(why string) {
	println("threelaws: " + why)
	os.Exit(3)
}

const (
	leastHeap = 64 << 20 // below this size no garbage is collected
	sweeps    = 16       // number of commands between two checks of the heap
)

// sweep collects garbage between commands, because a collection while goroutines run changes their order.
func (a *agent) sweep() {
	if a.sweeps++; a.sweeps%sweeps == 0 {
		a.collect(2 * leastHeap)
	}
}

// collect collects garbage if the heap exceeds both its limit and least.
func (a *agent) collect(least uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(sample); sample[0].Value.Uint64() < max(a.heap, least) {
		return
	}
	runtime.GC()
	metrics.Read(sample)
	a.heap = 2 * sample[0].Value.Uint64()
}
