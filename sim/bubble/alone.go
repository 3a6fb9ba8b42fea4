package bubble

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// alone keeps the order in which the goroutines of programs run from depending on anything
// but them. While there are rooms the Go process has one processor: on two of them a handler
// that enqueues a key twice races with the worker that takes it. And its garbage is collected
// between commands: a collection stops whoever runs, and lets others go first.
//
// What remains is that the runtime stops a goroutine which has run for ten milliseconds of
// real time. Commands take tenths of one; so long a one is seen on a machine that has other
// work for its processors.
type alone struct {
	rooms   int
	procs   int
	percent int    // as GOGC
	limit   int64  // as GOMEMLIMIT
	heap    uint64 // at which garbage is collected
	ticks   int
	sample  []metrics.Sample
}

var solitude = alone{sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}

const (
	least  = 64 << 20 // a heap below which nothing is collected
	beyond = 2 << 30  // what one command may allocate beyond the heap before the runtime collects by itself
	often  = 16       // commands from one look at the heap to the next
)

// enter is called for each room, under the lock of rooms.
func (a *alone) enter() {
	if a.rooms++; a.rooms > 1 {
		return
	}
	a.procs = runtime.GOMAXPROCS(1)
	a.percent = debug.SetGCPercent(-1)
	a.limit = debug.SetMemoryLimit(-1)
	a.grow()
}

// leave undoes that with the last room.
func (a *alone) leave() {
	if a.rooms--; a.rooms > 0 {
		return
	}
	debug.SetMemoryLimit(a.limit)
	debug.SetGCPercent(a.percent)
	runtime.GOMAXPROCS(a.procs)
}

// sweep collects garbage where there is as much as the process allows; no command is at work.
func (a *alone) sweep() {
	if a.ticks++; a.ticks%often != 0 || a.percent < 0 && a.limit == math.MaxInt64 || a.size() < a.heap {
		return
	}
	runtime.GC()
	a.grow()
}

// grow sets to how much the heap may grow from what it is, and with it the limit at which the
// runtime collects in the midst of a command. A limit that the user has set stays: garbage is collected at half of it.
func (a *alone) grow() {
	a.heap = max(least, a.size()/100*uint64(100+max(a.percent, 0)))
	if a.limit == math.MaxInt64 {
		debug.SetMemoryLimit(int64(a.heap) + beyond)
	} else if a.percent < 0 {
		a.heap = max(2*a.size(), uint64(a.limit)/2)
	}
}

func (a *alone) size() uint64 {
	metrics.Read(a.sample)
	return a.sample[0].Value.Uint64()
}
