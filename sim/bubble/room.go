package bubble

import (
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// patience limits the real time of one command. A program that has not settled after that time counts as hung.
var patience = 30 * time.Second

// room is the bubble with the programs of one cluster. Its main goroutine receives functions (commands) from the
// channel do and executes them. After each command it waits until all goroutines of the programs wait.
type room struct {
	cluster host.Place
	handler *httpapi.Handler
	hosts   map[string]bool // the names of the cluster's controllers that run in the bubble
	do      chan func()
	done    chan struct{}
	left    chan struct{} // closed when the bubble has ended
	leaked  []string      // stacks of the goroutines that existed when the bubble ended
	name    string        // the bubble's name in stacks
	hangs   bool          // a command took longer than half a minute, so the bubble is no longer used
	watch   *time.Timer   // fires when a command takes longer than half a minute
	stirred chan struct{} // receives a value when a program has sent a request or returned; made in the bubble
	seeds   int64         // of the random numbers while time passes
	starts  int64         // of the random numbers of a reconcile
	quiet   *quiet.Quiet
	asked   bool                       // a program has sent a request or returned during the last call of beside
	passing bool                       // beside is moving the clock
	works   atomic.Bool                // in the last call of beside, a program has done more than report Events
	syncs   []*shift                   // current reconciles of [Concurrent] controllers
	strays  []string                   // source lines of requests that came after their reconcile had returned
	whose   atomic.Pointer[life]       // the program whose goroutines run now; nil if unknown
	last    map[string]*life           // the last life of each program
	cut     bool                       // some reconcile was killed, so its goroutines may still exist
	panic   atomic.Pointer[host.Panic] // the last panic of a program; goroutines may be left behind after a panic
}

var (
	roomsMu sync.Mutex
	rooms   = map[host.Place]*room{}
	bubbles sync.Map   // bubble name -> room; not guarded by roomsMu, because a holder of roomsMu may wait for a reader
	turn    sync.Mutex // held during a command, because all rooms share math/rand's source
)

// roomOf returns the room of a cluster, after adding the controller's name to it. The first call opens the room.
func roomOf(c host.Place, name string) *room {
	settle()
	refuse(name)
	roomsMu.Lock()
	defer roomsMu.Unlock()
	r := rooms[c]
	if r == nil {
		solitude.enter()
		r = open(c)
		rooms[c] = r
		c.AtStop(r.close)
	}
	r.hosts[name] = true
	return r
}

func open(c host.Place) *room {
	r := &room{cluster: c, starts: firstSeed(c), hosts: map[string]bool{}, last: map[string]*life{},
		do: make(chan func()), done: make(chan struct{}), left: make(chan struct{}), watch: time.NewTimer(patience)}
	clock := &c.World().Clock
	go r.live()
	r.in(func() {
		r.stirred = make(chan struct{}, 1)
		time.Sleep(clock.Now().Sub(time.Now()))
	})
	r.quiet = quiet.New(c.World())
	r.quiet.Settled = r.settled
	clock.Beside = r.beside
	return r
}

// gate returns the handler that serves the server's HTTP API to the programs.
func (r *room) gate() *httpapi.Handler {
	if r.handler == nil {
		r.handler = httpapi.New(r.cluster.Server(), r.cluster.World().Clock.Now)
	}
	return r.handler
}

func (r *room) live() {
	defer close(r.left)
	defer func() {
		if recover() != nil { // synctest.Test panics if goroutines are left behind
			r.leaked = r.stacks()
		}
	}()
	synctest.Test(&testing.T{}, func(*testing.T) {
		r.name = bubbleHere()
		bubbles.Store(r.name, r)
		defer bubbles.Delete(r.name)
		for f := range r.do {
			r.whose.Store(r.alone())
			f()
			synctest.Wait()
			r.done <- struct{}{}
		}
	})
}

// in runs a function in the bubble, and waits until every goroutine of the bubble waits.
func (r *room) in(f func()) {
	turn.Lock()
	defer turn.Unlock()
	if r.hangs {
		return // the hang was reported
	}
	solitude.sweep()
	r.watch.Reset(patience)
	runtime.Gosched() // begins a new time slice, which the bubble's goroutines get together with the command
	r.do <- f
	select {
	case <-r.done:
		if len(r.strays) > 0 {
			at := r.strays[0]
			r.strays = nil
			panic(host.Misuse("a goroutine outlives the sync that started it: it asks, at " + at +
				", when that has returned"))
		}
	case <-r.watch.C:
		r.hangs = true
		why, runs := r.hung()
		r.giveUp(runs)
		panic(why)
	}
}

func (r *room) close() {
	if r.hangs {
		return
	}
	defer r.forget()
	r.in(func() { time.Sleep(farewell) })
	close(r.do)
	if <-r.left; len(r.leaked) > 0 && !r.cut && r.panic.Load() == nil {
		panic(leaked(r.leaked))
	}
}

func (r *room) forget() {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	if rooms[r.cluster] == r {
		delete(rooms, r.cluster)
		solitude.leave()
	}
}

// farewell is the virtual time that a program's goroutines have to end after the program has ended.
const farewell = 10 * time.Second

func (r *room) kick() {
	select {
	case r.stirred <- struct{}{}:
	default:
	}
}

// seed seeds the shared sources before a command of a program.
func (r *room) seed() {
	r.seeds++
	turn.Lock()
	seed(r.seeds)
	turn.Unlock()
}

// seed seeds the shared sources of random numbers, so that these numbers, such as the jitter of a backoff, depend only on
// the history. Under the overlay, and if it is called in a bubble, it also changes the order of maps and selects.
func seed(n int64) {
	rand.Seed(n) //nolint:staticcheck // client-go draws from the global source
	utilrand.Seed(n)
}

// firstSeed returns the first seed of a bubble's random numbers. Quiet runs begin with other resourceVersions and so have
// other random numbers, because their results must not count as the result of every run.
func firstSeed(c host.Place) int64 { return int64(c.Server().Version()) << 32 }

// beside moves the bubble's clock forward to a time, or until a program sends a request or returns. It returns the time
// that the clock has reached.
func (r *room) beside(to time.Duration) (came time.Duration) {
	r.seed()
	r.works.Store(false)
	r.passing = true
	r.in(func() {
		select {
		case <-r.stirred:
		default:
		}
		d := sim.Epoch.Add(to).Sub(time.Now())
		if d > 0 {
			timer := time.NewTimer(d)
			select {
			case <-timer.C:
			case <-r.stirred:
				r.asked = true
			}
			timer.Stop()
		}
		came = time.Since(sim.Epoch)
	})
	r.passing = false
	if r.asked {
		r.asked = false
		if r.works.Load() {
			r.quiet.Asked(came)
		}
	}
	return came
}

// settled is called when no program has sent a request for a long time. It ends reconciles that still wait.
func (r *room) settled() {
	for _, s := range r.syncs {
		s.stuck()
	}
}
