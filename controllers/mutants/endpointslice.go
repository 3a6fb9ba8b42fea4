package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/endpointslice"
	"github.com/threelaws/threelaws/sim/host"
)

// lister is an EndpointSlice controller without what f sets.
func lister(f func(w *endpointslice.Without)) build {
	var w endpointslice.Without
	f(&w)
	return build{func() host.Controller { return endpointslice.New(w) }, w}
}

// sliceMutants lack a guard of the EndpointSlice controller.
var sliceMutants = []mutant{
	{"endpointslice/create-without-ref", "LAW-1", "LAW-1",
		"makes slices without a reference to their Service",
		lister(func(w *endpointslice.Without) { w.TakeOwned = true })},
	{"endpointslice/inherits-by-name", "ADOPT-8", "LAW-2",
		"writes the slices that a former Service of the name has left",
		lister(func(w *endpointslice.Without) { w.OwnerUID = true })},
	{"endpointslice/believes-its-cache", "EXACT-2", "EXACT-2",
		"makes a second slice because its cache is yet to show the first",
		lister(func(w *endpointslice.Without) { w.Stale = true })},
	{"endpointslice/overwrites", "EXACT-5", "EXACT-5",
		"writes a slice from a copy that is older than what it has written itself",
		lister(func(w *endpointslice.Without) { w.Stale, w.Version = true, true })},
	{"endpointslice/waits-for-the-lost", "WATCH-7", "NOFIGHT-3",
		"waits to be shown a slice that was deleted before it could be",
		lister(func(w *endpointslice.Without) { w.Lost = true })},
	{"endpointslice/waits-for-the-dying", "WATCH-7", "NOFIGHT-3",
		"waits to see a slice gone that it has deleted and that somebody else's finalizer holds",
		lister(func(w *endpointslice.Without) { w.Dying = true })},
	{"endpointslice/ignores-its-slices", "WRITE-7", "NOFIGHT-3",
		"does not notice that others delete its slices",
		lister(func(w *endpointslice.Without) { w.Children = true })},
	{"endpointslice/create-while-deleting", "ADOPT-3", "ADOPT-3",
		"makes slices for a Service that is being deleted",
		lister(func(w *endpointslice.Without) { w.Terminating = true })},
}
