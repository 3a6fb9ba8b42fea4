package hosted

import (
	"context"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/features"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// The eras of the controllers of this package.
const (
	Era = "upstream"
	// Unguarded is upstream's with the feature gate off by which a sync waits until the caches
	// show what the controller wrote last, as it was before v1.36. Only those that have the gate
	// have this era.
	Unguarded = "upstream-unguarded"
)

// guards are the feature gates of those that wait for their caches.
var guards = map[string]featuregate.Feature{
	names.DaemonSetController:   features.StaleControllerConsistencyDaemonSet,
	names.JobController:         features.StaleControllerConsistencyJob,
	names.ReplicaSetController:  features.StaleControllerConsistencyReplicaSet,
	names.StatefulSetController: features.StaleControllerConsistencyStatefulSet,
}

// Controllers are upstream's own controllers of those names that the table of controllers
// has, with what its newest era says of them for the laws.
func Controllers() []host.Controller {
	var all []host.Controller
	aliases, descriptors := app.ControllerAliases(), app.NewControllerDescriptors()
	for _, c := range builtin.Registry().Controllers {
		name := aliases[c.Name]
		if c.Name == "replication" {
			name = names.ReplicationControllerController
		}
		if n := c.Name + "-controller"; name == "" && descriptors[n] != nil {
			name = n
		}
		if name == "" {
			continue
		}
		all = slices.DeleteFunc(all, func(older host.Controller) bool { return older.Name == c.Name })
		if guards[name] != "" {
			old := Controller(name, c, guards[name])
			old.Era = Unguarded
			all = append(all, old)
		}
		all = append(all, Controller(name, c))
	}
	return all
}

// Registry is everything that the command threelaws knows, and upstream's own controllers
// beside: "controllers replicaset@upstream".
func Registry() *scenarios.Registry {
	g := builtin.Registry()
	g.Controllers = append(Controllers(), g.Controllers...) // the last of a name is its default
	return g
}

// Controller is upstream's controller of a name, described as another is: one that makes
// the same of the same objects. It is built with those feature gates off.
func Controller(name string, as host.Controller, off ...featuregate.Feature) host.Controller {
	as.Era = Era
	return bubble.Controller(as, func(ctx context.Context, cfg *rest.Config) error { return run(ctx, cfg, name, off) })
}
