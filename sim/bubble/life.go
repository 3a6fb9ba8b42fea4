package bubble

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	kruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/goroutine"
	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/sim/host"
)

// life is one run of a program, from its start to its end or crash. It holds the requests that wait for their answers.
type life struct {
	room   *room
	dead   chan struct{} // closed when the life ends, so that all its requests return
	cancel context.CancelFunc

	sync bool // set if the life is one reconcile: see [Concurrent]

	mu     sync.Mutex
	asked  []*host.Call // requests since the last call of taken
	query  []host.Query // queries that were answered since the last call of queried
	open   map[*host.Call]chan struct{}
	feeds  map[*host.Stream]httpapi.Feed
	over   bool // the program has returned
	err    error
	buried bool // set when the life has ended: every later request fails
	killed bool // the program was killed before it returned

	reports map[*host.Call]bool // pending requests that only write Events, and that only time has caused
}

func newLife(r *room) *life {
	return &life{room: r, dead: make(chan struct{}), open: map[*host.Call]chan struct{}{},
		feeds: map[*host.Stream]httpapi.Feed{}, reports: map[*host.Call]bool{}}
}

func (l *life) begin(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), lifeKey{}, l))
	l.cancel = cancel
	l.room.whose.Store(l)
	go func() {
		err := l.call(ctx, run)
		if !l.sync { // goroutines of a reconcile may still use its context
			cancel()
		}
		l.ended(err)
	}()
}

// ended notes the end of the program. A second call has no effect.
func (l *life) ended(err error) {
	l.mu.Lock()
	if !l.over {
		l.over, l.err = true, err
	}
	l.mu.Unlock()
	l.room.works.Store(true)
	l.room.kick()
}

// call runs the program. A panic on the program's own goroutine ends the program, as it would end a process.
func (l *life) call(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			at, _ := raised()
			err = l.panicked(r, at)
		}
	}()
	return run(ctx)
}

// end kills the program. First its context ends, so that queues and other users of the context stop. Then all its
// requests fail. If requests failed first, a goroutine could lock a mutex and block on a queue.
func (l *life) end() {
	l.room.in(l.stop)
	l.room.in(l.fail)
}

// stop ends the program's context. Requests that are pending wait until fail is called.
func (l *life) stop() {
	l.room.whose.Store(l)
	l.mu.Lock()
	l.killed = true
	l.mu.Unlock()
	l.cancel()
}

// fail makes every pending and later request of the program fail.
func (l *life) fail() {
	l.room.whose.Store(l)
	l.mu.Lock()
	l.buried = true
	l.mu.Unlock()
	close(l.dead)
}

var errDead = errors.New("the process was killed")

// ask passes a request to the scheduler and waits for the answer.
func (l *life) ask(ctx context.Context, req *fakeapi.Request, watches bool) (*host.Call, error) {
	if ctx.Err() != nil {
		return nil, l.lapsed(ctx) // a request with an ended context is not sent
	}
	var gone atomic.Bool
	c := host.NewCall(req, watches, uint64(goroutine.Current()), gone.Load)
	if l.sync {
		c.Thread, c.From = numberHere(), whence()
	}
	answered := make(chan struct{})
	l.mu.Lock()
	if l.buried {
		if l.sync && !l.killed {
			l.room.strays = append(l.room.strays, c.From)
		}
		l.mu.Unlock()
		return nil, errDead
	}
	if !l.killed { // a program that is being killed sends nothing
		l.asked = append(l.asked, c)
		l.open[c] = answered
		if l.room.passing && quiet.Reports(req) {
			l.reports[c] = true
		} else {
			l.room.works.Store(true)
		}
	}
	l.mu.Unlock()
	l.room.kick()
	select {
	case <-answered:
		return c, nil
	case <-l.dead:
		return nil, errDead
	case <-ctx.Done():
		gone.Store(true)
		return nil, l.lapsed(ctx)
	}
}

// lapsed returns the error of a request whose context has ended. If the program is being killed, lapsed first waits
// until fail is called: by then, queues have been shut down.
func (l *life) lapsed(ctx context.Context) error {
	l.mu.Lock()
	killed := l.killed
	l.mu.Unlock()
	if killed {
		<-l.dead
	}
	return ctx.Err()
}

// Do sends a request that reads or changes objects.
func (l *life) Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	c, err := l.ask(ctx, req, false)
	if err != nil {
		return fakeapi.Response{}, err
	}
	return c.Response, nil
}

func (l *life) Watch(ctx context.Context, req *fakeapi.Request, f httpapi.Feed) (fakeapi.Response, error) {
	c, err := l.ask(ctx, req, true)
	if err != nil {
		return fakeapi.Response{}, err
	}
	if c.Stream != nil {
		c.Stream.SetClosed(f.Closed)
		l.mu.Lock()
		l.feeds[c.Stream] = f
		l.mu.Unlock()
	}
	return c.Response, nil
}

// Answered records a query that the transport has answered: see [host.Query].
func (l *life) Answered(r *http.Request, obj kruntime.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.killed {
		l.query = append(l.query, host.QueryOf(r, obj))
	}
}

func (l *life) queried() []host.Query {
	l.mu.Lock()
	defer l.mu.Unlock()
	query := l.query
	l.query = nil
	return query
}

func (l *life) taken() []*host.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := l.asked
	l.asked = nil
	return asked
}

func (l *life) answer(c *host.Call) {
	l.room.whose.Store(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.open[c])
	delete(l.open, c)
}

func (l *life) send(s *host.Stream, e watch.Event) {
	l.room.whose.Store(l)
	l.mu.Lock()
	f := l.feeds[s]
	if e.Type == watch.Error {
		delete(l.feeds, s)
	}
	l.mu.Unlock()
	if f == nil {
		panic(fmt.Sprintf("bubble: an event of %s for a watch that was not opened", s.Kind.GVK.Kind))
	}
	if err := f.Send(e); err != nil {
		panic(fmt.Sprintf("bubble: an event of %s does not encode: %v", s.Kind.GVK.Kind, err))
	}
	if e.Type == watch.Error {
		f.End()
	}
}

type lifeKey struct{}

// toldOfPanic is a panic handler of utilruntime. It ends the program of the goroutine that panicked: the program
// receives no more events, the goroutine exits, and the Go process continues. If a manager has recovered the panic
// itself, the goroutine continues. toldOfPanic does nothing for a reconcile or an unknown program.
func toldOfPanic(ctx context.Context, why any) {
	l, is := ctx.Value(lifeKey{}).(*life)
	if !is {
		l = whoseHere()
	}
	if l == nil || l.sync {
		return
	}
	at, crashes := raised()
	l.ended(l.panicked(why, at))
	l.cancel()
	if crashes && utilruntime.ReallyCrash {
		runtime.Goexit()
	}
}

func (l *life) panicked(why any, at string) *host.Panic {
	p := &host.Panic{Text: fmt.Sprintf("%v, at %s", why, at)}
	if !l.sync {
		l.room.panic.Store(p)
	}
	return p
}

// raised returns the line of the current panic. crashes is true if HandleCrash handles the panic, and will panic again.
func raised() (at string, crashes bool) {
	at = goroutine.Raised(func(function string) { crashes = crashes || function == handlesCrash })
	return at, crashes
}

const handlesCrash = "k8s.io/apimachinery/pkg/util/runtime.handleCrash"

// whoseHere returns the life of the calling goroutine's program, or nil if the program is unknown.
func whoseHere() *life {
	var head [128]byte
	m := bubbled.FindSubmatch(head[:runtime.Stack(head[:], false)])
	if m == nil {
		return nil
	}
	if r, is := bubbles.Load(string(m[2])); is {
		return r.(*room).whose.Load()
	}
	return nil
}

// alone returns the life of the room's program if there is only one and no reconcile is in progress. Otherwise it
// returns nil: when time passes, goroutines of several programs may run.
func (r *room) alone() (only *life) {
	if len(r.last) == 1 && len(r.syncs) == 0 {
		for _, only = range r.last {
		}
	}
	return only
}
