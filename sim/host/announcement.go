package host

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// announcer is a [Program] that announces its reconciles.
type announcer interface {
	// SetAnnounced is called before Start.
	SetAnnounced(to Announced)
}

// Announced receives the reconciles of a program. Each reconcile has a number, which its requests repeat.
type Announced interface {
	// Begin says that a reconcile of a controller has begun.
	Begin(number int64, controller, key string)
	// Saw says that the reconcile has read objects of a kind from a cache.
	Saw(number int64, kind schema.GroupKind, objects []Cached)
	// End says that the reconcile has ended. The key may be retried with a growing delay, or be reconciled again after a
	// delay (0: only after an event).
	End(number int64, retried bool, again time.Duration)
	// Polls is [Process.Polls].
	Polls() (longest time.Duration, known bool)
}

// Cached is an object that a reconcile has read from a cache. Version is empty if the cache did not contain it.
type Cached struct{ Namespace, Name, Version string }

// announced is a reconcile of a hosted program.
type announced struct {
	worker     int
	controller string
	key        string
	since      int // the length of the history when it began

	known bool // the reconciled object is known, and SyncStart is recorded
	start int
	owner sim.Ref
	saw   any
	seen  map[seenKey]any // the versions that it last read; nil for an object that did not exist
}

type seenKey struct {
	kind *fakeapi.Kind
	key  string
}

// stamp writes the reconciled object into a record, if it is known.
func (a *announced) stamp(r *sim.Record) {
	if a != nil && a.known {
		r.Worker, r.For, r.SawFor = a.worker, a.owner, a.saw
	}
}
