package bubble

import (
	"math/rand"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// Timed returns a copy of ctl in which New, handlers and Sync use the world's time for time.Now and timers. If a Sync
// sleeps, its time is ahead of the world's time for a while. Programs and [Concurrent] controllers do not need Timed.
func Timed(ctl host.Controller) host.Controller {
	if !ctl.Hosted() && ctl.Goroutines == nil {
		ctl.Inside = insideOf
	}
	return ctl
}

// clock is a bubble with the time of a world. Its main goroutine runs functions one after another. Between two
// functions it waits for a channel from outside the bubble, so that virtual time passes only during a function.
type clock struct {
	world *sim.Clock
	seed  int64         // of the last function, under the overlay
	at    time.Duration // the world's time at the last call of in
	do    chan func()
	done  chan struct{} // receives a value after each function; closed when the bubble has ended
	gone  bool
	ended bool // the last function has returned, without a panic or runtime.Goexit
	panic any  // the panic of the last function; nil if it returned or called runtime.Goexit
	stuck any  // the panic that ended the bubble; nil if the bubble was closed
}

var (
	clocksMu sync.Mutex
	clocks   = map[host.Place]*clock{}
)

// insideOf returns a function that runs its argument in a bubble with the time of the cluster's world.
func insideOf(of host.Place) func(func()) {
	clocksMu.Lock()
	defer clocksMu.Unlock()
	c := clocks[of]
	if c == nil {
		c = &clock{world: &of.World().Clock, seed: firstSeed(of), at: -1, do: make(chan func()), done: make(chan struct{})}
		go c.live()
		clocks[of] = c
		of.AtStop(func() {
			clocksMu.Lock()
			delete(clocks, of)
			clocksMu.Unlock()
			if !c.gone {
				close(c.do)
				<-c.done
			}
		})
	}
	return c.in
}

func (c *clock) live() {
	defer close(c.done)
	defer func() { c.stuck = recover() }() // synctest.Test panics if a goroutine still waits at the end
	synctest.Test(&testing.T{}, func(*testing.T) {
		for f := range c.do {
			c.catchUp()
			c.seed++
			rand.Seed(c.seed) //nolint:staticcheck // only the overlay makes it change anything
			c.run(f)
			c.done <- struct{}{}
		}
	})
}

func (c *clock) catchUp() {
	if now := c.world.Elapsed(); now != c.at {
		c.at = now
		if d := c.world.Now().Sub(time.Now()); d > 0 {
			time.Sleep(d)
		}
	}
}

func (c *clock) run(f func()) {
	c.ended, c.panic = false, nil
	defer func() {
		if !c.ended {
			c.panic = recover()
		}
	}()
	f()
	c.ended = true
}

// in runs a function in the bubble. A panic or Goexit of the function continues in the caller.
func (c *clock) in(f func()) {
	if c.gone {
		return // an earlier call has reported the end of the bubble
	}
	c.do <- f
	_, there := <-c.done
	switch c.gone = !there; {
	case there && c.panic != nil:
		panic(c.panic)
	case there:
	case c.stuck != nil && !c.ended:
		panic(host.Misuse("a sync waits, on its own goroutine, for what cannot happen before it returns"))
	default:
		runtime.Goexit() // the function called runtime.Goexit
	}
}
