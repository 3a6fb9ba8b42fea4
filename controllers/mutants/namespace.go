package mutants

import "github.com/threelaws/threelaws/controllers/namespace"

// namespaceMutants lack a guard of the namespace controller. (That it compares
// uids is shown by a test of its own: no script comes between its requests.)
var namespaceMutants = []Mutant{
	{"namespace/everything-at-once", "NS-1", "NS-1",
		"deletes what is in a namespace without waiting for its pods",
		drainer(func(w *namespace.Without) { w.PodsFirst = true })},
	{"namespace/no-waiting", "NS-1", "NS-1",
		"lets a namespace go although something in it is held by a finalizer",
		drainer(func(w *namespace.Without) { w.Waiting = true })},
}

// drainer is a namespace controller without what f sets.
func drainer(f func(w *namespace.Without)) build { return build{drainer: f} }
