package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/claimprotection"
	"github.com/threelaws/threelaws/controllers/internal/volumeprotection"
	"github.com/threelaws/threelaws/sim/host"
)

// protectionMutants lack a guard of a controller that protects storage which is in use.
var protectionMutants = []mutant{
	{"claimprotection/in-use", "FIN-1", "FIN-3",
		"lets a claim go that a pod uses",
		protector(func(w *claimprotection.Without) { w.InUse = true })},
	{"claimprotection/believes-its-cache", "FIN-1", "FIN-3",
		"lets a claim go that a pod uses that its cache does not show yet",
		protector(func(w *claimprotection.Without) { w.Live = true })},
	{"volumeprotection/in-use", "FIN-1", "FIN-3",
		"lets a volume go that is bound",
		build{func() host.Controller { return volumeprotection.New(volumeprotection.Without{Bound: true}) },
			volumeprotection.Without{Bound: true}}},
}

// protector is a controller that protects claims without what f sets.
func protector(f func(w *claimprotection.Without)) build {
	var w claimprotection.Without
	f(&w)
	return build{func() host.Controller { return claimprotection.New(w) }, w}
}
