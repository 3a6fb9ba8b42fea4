package mutants

import (
	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/controllers/namespace"
	"github.com/threelaws/threelaws/sim/host"
)

// namespaceMutants lack a guard of the namespace controller.
var namespaceMutants = []mutant{
	{"namespace/everything-at-once", "NS-1", "NS-1",
		"deletes what is in a namespace without waiting for its pods",
		drainer(func(w *namespace.Without) { w.PodsFirst = true })},
	{"namespace/unknown-is-none", "NS-1", "NS-1",
		"takes pods that it could not count for none, and deletes the rest",
		drainer(func(w *namespace.Without) { w.PodsUnknown = true })},
	{"namespace/no-waiting", "NS-1", "NS-1",
		"lets a namespace go although something in it is held by a finalizer",
		drainer(func(w *namespace.Without) { w.Waiting = true })},
	{"namespace/despite-errors", "NS-1", "NS-1",
		"lets a namespace go although it could not be emptied",
		drainer(func(w *namespace.Without) { w.Errors = true })},
	{"namespace/empties-successors", "NS-1", "NS-1",
		"empties a namespace that was made again under the name of one that it had been emptying",
		drainer(func(w *namespace.Without) { w.Terminating = true })},
}

// kubeletMutants lack a guard of the kubelet. It is no controller, and the laws
// are not about it: what shows is that a pod is gone that nobody deleted.
var kubeletMutants = []mutant{
	{"kubelet/finishes-by-name", "FIN-1", "",
		"ends a pod that has taken the name of the one whose deletion it completes",
		runner(func(w *kubelet.Without) { w.UID = true })},
}

// runner is a kubelet without what f sets.
func runner(f func(w *kubelet.Without)) build {
	var o kubelet.Options
	f(&o.Without)
	return build{func() host.Controller { return kubelet.New(o) }, o.Without}
}
