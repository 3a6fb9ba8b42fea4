package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// concurrentSync is a reconcile that may start goroutines. It runs until all its goroutines wait. Then several requests
// may be pending. The order of these requests does not depend on which goroutine ran first.
type concurrentSync struct {
	worker  *worker
	program Program
	ask     Ask
	calls   []*Call        // requests that wait to be executed or answered, sorted by [Call].key
	made    map[string]int // key of a request -> number of requests with this key so far
	read    uint64         // digest of the data that the goroutines have read from caches since the last call of gather
}

type concurrentKey struct{}

func (p *Process) concurrent() bool { return p.controller.Goroutines != nil }

// inside calls f (New or a handler) in the bubble of the process: see package bubble. Channels that f makes belong to
// the bubble. Without a bubble, inside calls f directly. The parameter what names f in errors.
func (p *Process) inside(what string, f func()) {
	if !p.concurrent() {
		if p.timed == nil {
			f()
		} else {
			p.timed(f)
		}
		return
	}
	before := p.apart
	p.apart = what
	defer func() { p.apart = before }()
	var failed any
	does := p.controller.Goroutines(p.cluster, func(context.Context, Ask) error {
		defer func() { failed = recover() }()
		f()
		return nil
	})
	does.Start()
	_, ended := does.Ended()
	if !ended {
		panic(Misuse(fmt.Sprintf("controller %s: %s waits, and nothing can happen before it returns", p.controller.Name,
			what)))
	}
	does.Kill()
	if failed != nil {
		panic(failed)
	}
}

func (w *worker) startConcurrent() {
	k := &concurrentSync{worker: w, made: map[string]int{}}
	k.program = w.process.controller.Goroutines(w.process.cluster,
		func(ctx context.Context, ask Ask) error {
			k.ask = ask
			return w.syncOnce(context.WithValue(ctx, concurrentKey{}, k))
		})
	w.concurrentSync, w.process.last, w.state = k, k, gathered
	w.turn(k.program.Start)
}

// turn calls f, which runs the goroutines of a reconcile until each of them waits.
func (w *worker) turn(f func()) {
	c := w.process.cluster
	before := c.running
	c.running = w
	f()
	c.running = before
	w.gather()
	if _, ended := w.concurrentSync.program.Ended(); ended {
		w.dismiss()
	}
}

// gather collects the goroutines' new requests, and drops canceled requests.
func (w *worker) gather() {
	k, c := w.concurrentSync, w.process.cluster
	if k.read != 0 {
		w.local.Word(k.read)
		k.read = 0
	}
	k.calls = slices.DeleteFunc(k.calls, func(c *Call) bool { return c.withdrawn() })
	fresh := slices.DeleteFunc(k.program.Asked(), func(c *Call) bool { return c.withdrawn() })
	for _, call := range fresh {
		call.of, call.state, call.asked = k, asking, c.world.History.Len()
		for _, other := range k.calls {
			if other.state == answered { // the goroutine may have read caches before the call other was executed
				call.asked = min(call.asked, other.done)
			}
		}
		call.key, call.digest = call.name(), call.content()
	}
	if len(fresh) > 0 {
		w.local.Word(uint64(c.world.Clock.Elapsed())) // the goroutines may have read the clock
	}
	slices.SortFunc(fresh, func(a, b *Call) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.digest, b.digest), cmp.Compare(a.Thread, b.Thread))
	})
	for _, call := range fresh {
		if k.made[call.key]++; k.made[call.key] > 1 {
			call.key = fmt.Sprintf("%s #%d", call.key, k.made[call.key])
		}
		w.local.String(call.key)
		w.local.Word(call.digest)
	}
	k.calls = append(k.calls, fresh...)
	slices.SortFunc(k.calls, func(a, b *Call) int { return strings.Compare(a.key, b.key) })
}

// dismiss ends a reconcile that has returned or can never return. If requests are still pending, their goroutines
// outlive the reconcile, which is an error.
func (w *worker) dismiss() {
	k := w.concurrentSync
	w.err, _ = k.program.Ended()
	if len(k.calls) > 0 {
		what := "is pending"
		if k.calls[0].state == answered {
			what = "is not answered yet"
		}
		w.err = &strayError{fmt.Sprintf("%s: the sync of %s has returned, and a goroutine that it started runs on: "+
			"its %s %s%s", w.process.Name, w.key, k.calls[0].key, what, at(k.calls[0]))}
	}
	k.program.Kill()
	w.concurrentSync = nil
	w.finish()
}

func at(c *Call) string {
	if c.From == "" {
		return ""
	}
	return ", asked at " + c.From
}

// returns is the Detail of an action that ends a reconcile. This action is needed if the reconcile returns after a
// sleep. If it returns after an answer, the action of the answer ends it.
const returns = "return"

func (w *worker) offer(slot int, into []sim.Action) []sim.Action {
	p := w.process
	w.gather()
	if _, ended := w.concurrentSync.program.Ended(); ended {
		return append(into, sim.Action{Class: sim.Respond, Actor: p.Name, Detail: w.detail(returns), Slot: slot})
	}
	for j, c := range w.concurrentSync.calls {
		class := sim.Execute
		if c.state == answered {
			class = sim.Respond
		}
		into = append(into, sim.Action{Class: class, Actor: p.Name, Detail: w.detail(c.key),
			Slot: (j+1)*len(p.workers) + slot})
	}
	return into
}

func (w *worker) detail(of string) string { return strings.TrimSpace(w.label + " " + of) }

func (p *Process) asks(x sim.Action) bool {
	return p.concurrent() && (x.Class == sim.Respond || x.Class == sim.Execute) && x.Slot >= len(p.workers)
}

// callOf returns the request that an action executes or answers, and its worker. The Slot of the action encodes both.
func (p *Process) callOf(x sim.Action) (*worker, *Call) {
	n := len(p.workers)
	w := p.workers[x.Slot%n]
	return w, w.concurrentSync.calls[x.Slot/n-1]
}

func (w *worker) take(c *Call, class sim.Class) {
	if class == sim.Execute {
		c.execute(w.process.cluster.fault(w.process.Name, c.Request))
		return
	}
	k := w.concurrentSync
	k.calls = slices.Delete(k.calls, slices.Index(k.calls, c), slices.Index(k.calls, c)+1)
	w.local.String(c.key)
	w.local.Word(uint64(c.local))
	w.abstract.Word(uint64(c.abstract))
	w.listen()
	w.turn(func() { k.program.Answer(c) })
}

// askFor sends a request from a goroutine of the reconcile and waits for the answer.
func (k *concurrentSync) askFor(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	call, err := k.ask(ctx, req)
	if err != nil {
		return fakeapi.Response{}, err
	}
	return call.Response, nil
}

// shown adds v, which the process has just received, to the field late of each request that waits to be executed.
func (k *concurrentSync) shown(v *version) {
	for _, c := range k.calls {
		if c.state == asking {
			c.late += sim.Mix(v.exact)
		}
	}
}

func (k *concurrentSync) digest(h *sim.Hash) {
	for _, c := range k.calls {
		h.String(c.key)
		h.Word(uint64(c.state))
		h.Word(uint64(c.local))
		if c.state == asking {
			h.Word(c.late)
		}
	}
}

func (k *concurrentSync) asker(f func(asker) bool) asker {
	for _, c := range k.calls {
		if c.state == asking && f(c) {
			return c
		}
	}
	return nil
}

// here returns the reconcile that ctx belongs to. If ctx belongs to no reconcile of the process, here returns the
// running reconcile, or an unfinished one, or the last one. It returns nil while New or a handler runs.
func (p *Process) here(ctx context.Context) *concurrentSync {
	if p.apart != "" {
		return nil
	}
	if k, ok := ctx.Value(concurrentKey{}).(*concurrentSync); ok && k.worker.process == p {
		return k
	}
	if w := p.cluster.running; w != nil && w.process == p && w.concurrentSync != nil {
		return w.concurrentSync
	}
	for _, w := range p.workers {
		if w.concurrentSync != nil {
			return w.concurrentSync
		}
	}
	return p.last
}

func (k *concurrentSync) sign(c *Call, r *sim.Record) {
	k.worker.sign(r)
	r.Asked = c.asked
}

// saw returns the version of an object that the reconcile read last.
func (k *concurrentSync) saw(_ *Call, kind *fakeapi.Kind, namespace, name string) any {
	return k.worker.sawObject(kind, namespace, name)
}

func (k *concurrentSync) told(_ *Call, kind *fakeapi.Kind, m metav1.Object) { k.worker.told(kind, m) }

func (k *concurrentSync) toldAll(_ *Call, kind *fakeapi.Kind, items []runtime.Object) {
	k.worker.toldAll(kind, items)
}

func (k *concurrentSync) execute(c *Call, f *FailedRequest) {
	p := k.worker.process
	c.done = p.cluster.world.History.Len()
	c.Response = p.cluster.serve(c, c.Request, f)
	p.linger(c.Request)
	c.state, p.touched = answered, true
	p.cluster.fold(c.Request, &c.Response, &c.local, &c.abstract)
}
