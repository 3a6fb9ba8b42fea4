package host

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/goroutine"
	"github.com/threelaws/threelaws/sim"
)

// worker is one thread of a process. It is a coroutine that yields at every API call, or it runs a concurrentSync.
type worker struct {
	process *Process
	id      int
	label   string // the worker's name in action keys, such as "w0"; "" in a process with one worker

	goroutine goroutine.ID // the goroutine that runs the coroutine

	concurrentSync *concurrentSync // the current reconcile, if it may start goroutines; otherwise nil

	resume func() (struct{}, bool)
	turns  func() // calls resume in the bubble; nil if the controller is not timed
	stop   func()
	yield  func(struct{}) bool

	state workerState
	key   string
	sync  uint64 // number of the reconcile, counted over the whole cluster
	start int    // index of the reconcile's SyncStart record
	owner sim.Ref
	saw   *version // the cached version of owner when the reconcile began
	req   *fakeapi.Request
	asked int    // the length of the history when req was sent
	late  uint64 // digest of the deliveries since req was sent, which the reconcile cannot know
	resp  fakeapi.Response
	err   error

	live  []liveRead // objects that this reconcile has read from the server
	reads []*version // cached versions that this reconcile has read, each once

	// local is a digest of the inputs and requests of the reconcile, which determine its state: see state.go.
	local, abstract sim.Hash
}

// liveRead is an object, or the objects of a list, that a response contained.
type liveRead struct {
	kind  *fakeapi.Kind
	meta  metav1.Object    // nil for a list
	items []runtime.Object // sorted by key
}

// object returns the object with a name in a response, or nil.
func (l *liveRead) object(k *fakeapi.Kind, namespace, name string) metav1.Object {
	is := func(m metav1.Object) bool { return m.GetName() == name && m.GetNamespace() == namespace }
	if l.kind != k {
		return nil
	}
	if l.meta != nil && is(l.meta) {
		return l.meta
	}
	for _, o := range l.items {
		if m, ok := o.(metav1.Object); ok && is(m) {
			return m
		}
	}
	return nil
}

// killed is the panic value that ends the coroutine of a worker whose process crashed.
type killed struct{}

func newWorker(p *Process, id int) *worker {
	w := &worker{process: p, id: id}
	if p.workersWanted() > 1 {
		w.label = fmt.Sprintf("w%d", id)
	}
	if p.concurrent() {
		w.stop = func() {}
		return w
	}
	if timed := p.timed; timed != nil { // a coroutine must be resumed in the bubble in which it was created
		timed(func() { w.resume, w.stop = iter.Pull(w.body) })
		resume, stop := func() { w.resume() }, w.stop
		w.turns, w.stop = func() { timed(resume) }, func() { timed(stop) }
	} else {
		w.resume, w.stop = iter.Pull(w.body)
	}
	w.run() // runs to the first yield
	return w
}

// body is the code of the coroutine. It runs one reconcile after another.
func (w *worker) body(yield func(struct{}) bool) {
	w.yield, w.goroutine = yield, goroutine.Current()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
		}
	}()
	for yield(struct{}{}) {
		w.err = w.syncOnce(context.Background())
		w.finish()
	}
}

// workerHere returns the worker whose coroutine is the calling goroutine, or nil.
func (p *Process) workerHere() *worker {
	here := goroutine.Current()
	for _, w := range p.workers {
		if w.goroutine == here && w.resume != nil {
			return w
		}
	}
	return nil
}

// syncOnce calls the controller's Sync. If Sync panics, the reconcile ends with an error.
func (w *worker) syncOnce(ctx context.Context) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		switch r.(type) {
		case killed, Misuse:
			panic(r)
		}
		err = &panicError{Process: w.process.Name, Key: w.key, Value: r, At: goroutine.Raised(nil)}
	}()
	return w.process.reconciler.Sync(ctx, w.key)
}

type panicError struct {
	Process, Key string
	Value        any
	At           string // the line of the panic, if it is in the controller's code
}

func (e *panicError) Error() string {
	text := fmt.Sprintf("panic in %s while syncing %s: %v", e.Process, e.Key, e.Value)
	if e.At != "" {
		text += ", at " + e.At
	}
	return text
}

func (w *worker) run() {
	c := w.process.cluster
	before := c.running
	c.running = w
	if w.turns != nil {
		w.turns()
	} else {
		w.resume()
	}
	c.running = before
}

// begin takes the oldest key of the queue and starts to reconcile it.
func (w *worker) begin() {
	p := w.process
	key, _ := p.queue.Get()
	c := p.cluster
	c.syncs++
	p.busy++
	w.key, w.sync = key, c.syncs
	w.local, w.abstract = sim.Hash(sim.HashString(key)), sim.Hash(0)
	w.live, w.reads = w.live[:0], w.reads[:0]
	w.owner, w.saw = p.ownerOf(key)
	r := sim.Record{Op: sim.SyncStart, Cause: p.causeOf(key), Verb: "sync", Object: w.owner}
	w.stamp(&r)
	w.start = c.world.Record(r).Index
	w.resumeSync()
}

// finish ends a reconcile. After an error it queues the key again; otherwise it forgets the failures of the key.
func (w *worker) finish() {
	p := w.process
	r := sim.Record{Op: sim.SyncEnd, Cause: w.start, Verb: "sync", Object: w.owner}
	w.stamp(&r)
	if w.err != nil {
		r.Message = w.err.Error()
		switch w.err.(type) {
		case *panicError, *strayError:
			r.Reason = "panic"
		}
		if !p.controller.Careless.DropErrors {
			p.queue.AddRateLimited(w.key)
		}
	} else {
		p.queue.Forget(w.key)
	}
	w.checkCaches()
	p.queue.Done(w.key)
	p.cluster.world.Record(r)
	w.state, w.key, w.owner, w.saw = idle, "", sim.Ref{}, nil
	w.local, w.abstract = 0, 0
	p.busy--
	p.forgetReplaced()
}

// call makes the worker wait until the response to a request is delivered.
func (w *worker) call(req *fakeapi.Request) fakeapi.Response {
	w.req, w.state, w.asked, w.late = req, asking, w.process.cluster.world.History.Len(), 0
	w.foldRequest()
	if !w.yield(struct{}{}) {
		panic(killed{})
	}
	w.req = nil
	return w.resp
}

// execute executes the pending request. If f is not nil, the request fails as f says: see [Cluster.serve].
func (w *worker) execute(f *FailedRequest) {
	w.resp = w.process.cluster.serve(w, w.req, f)
	w.process.linger(w.req)
	w.state, w.process.touched = answered, true
	w.fold()
}

// sawObject returns the version of an object that the reconcile last read from the server or, otherwise, from a cache.
func (w *worker) sawObject(k *fakeapi.Kind, namespace, name string) any {
	for i := len(w.live) - 1; i >= 0; i-- {
		if m := w.live[i].object(k, namespace, name); m != nil {
			return m
		}
	}
	if i := w.process.informers[k]; i != nil {
		key := name
		if now := i.state.current(namespace, name); now != nil {
			key = now.key // the same string, without an allocation
		} else if namespace != "" {
			key = namespace + "/" + name
		}
		if v, ok := i.sawIn(w, key); ok && v != nil {
			return v.obj
		}
	}
	return nil
}

func (w *worker) request() *fakeapi.Request { return w.req }

func (w *worker) told(k *fakeapi.Kind, m metav1.Object) {
	w.live = append(w.live, liveRead{kind: k, meta: m})
}

func (w *worker) toldAll(k *fakeapi.Kind, items []runtime.Object) {
	w.live = append(w.live, liveRead{kind: k, items: items})
}

// sign writes the worker and the reconciled object into a request's record. The cause is the start of the reconcile.
func (w *worker) sign(r *sim.Record) {
	r.Cause, r.Asked = w.start, w.asked
	w.stamp(r)
}

func (w *worker) stamp(r *sim.Record) {
	w.process.stamp(r)
	r.Worker, r.For = w.id, w.owner
	if w.saw != nil {
		r.SawFor = w.saw.obj
	}
}

// checkCaches records each object that the reconcile read from a cache and changed in place (WRITE-5). Such a change is
// an error because the server and all processes share these objects.
func (w *worker) checkCaches() {
	c := w.process.cluster
	if w.process.concurrent() { // the goroutines of the reconcile read in random order
		slices.SortFunc(w.reads, func(a, b *version) int { return strings.Compare(a.key, b.key) })
	}
	for _, v := range w.reads {
		c.scratch = slices.Grow(c.scratch[:0], len(v.encoded))
		if v.intact(c.scratch[:len(v.encoded)]) {
			continue
		}
		r := mutationOf(c.server.KindOf(v.obj), v)
		r.Cause = w.start
		w.stamp(&r)
		c.world.Record(r)
		v.encoded = encode(v.obj)
	}
}
