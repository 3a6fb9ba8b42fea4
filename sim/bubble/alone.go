package bubble

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientfeatures "k8s.io/client-go/features"
)

// alone makes the programs' goroutines run in a deterministic order. While a [room] is open, the Go process uses one
// processor. On two processors, a handler that enqueues a key twice would race with the worker that takes the key.
// Garbage is collected between two commands of a room, because a collection stops the running goroutine and lets others
// run.
//
// The order may still differ if the Go runtime preempts a goroutine, after ten milliseconds of real time. Each command
// has its own time slice. It takes tenths of a millisecond, and more on a busy machine.
type alone struct {
	rooms   int    // number of open rooms
	procs   int    // the former GOMAXPROCS, which leave restores
	percent int    // the former GOGC, which leave restores
	limit   int64  // the former GOMEMLIMIT, which leave restores
	heap    uint64 // from this heap size on, sweep collects garbage
	ticks   int    // number of commands so far, in all rooms
	sample  []metrics.Sample
}

var solitude = alone{sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}

const (
	least  = 64 << 20 // sweep collects no garbage in a smaller heap
	beyond = 2 << 30  // bytes that a command may allocate before the runtime collects by itself
	often  = 16       // sweep checks the heap once in this number of commands
)

// enter is called with roomsMu locked when a room is opened. The first call changes the settings.
func (a *alone) enter() {
	if a.rooms++; a.rooms > 1 {
		return
	}
	a.procs = runtime.GOMAXPROCS(1)
	a.percent = debug.SetGCPercent(-1)
	a.limit = debug.SetMemoryLimit(-1)
	a.grow()
}

// leave is called when a room is closed. The last call restores the settings that enter changed.
func (a *alone) leave() {
	if a.rooms--; a.rooms > 0 {
		return
	}
	debug.SetMemoryLimit(a.limit)
	debug.SetGCPercent(a.percent)
	runtime.GOMAXPROCS(a.procs)
}

// sweep collects garbage if the heap has reached the size a.heap. It runs between commands.
func (a *alone) sweep() {
	if a.ticks++; a.ticks%often != 0 || a.percent < 0 && a.limit == math.MaxInt64 || a.size() < a.heap {
		return
	}
	runtime.GC()
	a.grow()
}

// grow sets the heap size at which sweep collects. With GOGC=off and a GOMEMLIMIT, this is half the limit, or twice the
// current heap if that is more. It is at most the limit, unless the current heap is near the limit or above. The runtime
// itself collects only if a command allocates much.
func (a *alone) grow() {
	size := a.size()
	a.heap = max(least, size/100*uint64(100+max(a.percent, 0)))
	if a.limit != math.MaxInt64 {
		if a.percent < 0 {
			a.heap = max(2*size, uint64(a.limit)/2)
		}
		a.heap = min(a.heap, max(uint64(a.limit), size/4*5))
	}
	debug.SetMemoryLimit(int64(a.heap) + beyond)
}

func (a *alone) size() uint64 {
	metrics.Read(a.sample)
	return a.sample[0].Value.Uint64()
}

// settle changes, once, the settings of the Go process that the package documentation lists.
var settle = sync.OnceFunc(func() {
	utilruntime.ErrorHandlers = nil
	utilruntime.PanicHandlers = append([]func(context.Context, any){toldOfPanic}, utilruntime.PanicHandlers...)
	clientfeatures.ReplaceFeatureGates(gates{clientfeatures.FeatureGates()})
	if err := os.Setenv("GODEBUG", "randseednop=0,"+os.Getenv("GODEBUG")); err != nil {
		panic("bubble: " + err.Error())
	}
})

// gates are client-go's features without WatchListClient.
type gates struct{ clientfeatures.Gates }

func (g gates) Enabled(f clientfeatures.Feature) bool {
	return f != clientfeatures.WatchListClient && g.Gates.Enabled(f)
}
