package controllers

import (
	"maps"

	"github.com/threelaws/threelaws/controllers/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/claimprotection"
	"github.com/threelaws/threelaws/controllers/internal/cronjob"
	"github.com/threelaws/threelaws/controllers/internal/deployment"
	"github.com/threelaws/threelaws/controllers/internal/disruption"
	"github.com/threelaws/threelaws/controllers/internal/endpointslice"
	"github.com/threelaws/threelaws/controllers/internal/job"
	"github.com/threelaws/threelaws/controllers/internal/quota"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/controllers/internal/replication"
	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/controllers/internal/ttl"
	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/controllers/namespace"
	"github.com/threelaws/threelaws/sim/host"
)

// gatedOff is the gated generation in a cluster whose garbage collector is
// disabled: it does as the selector generation does.
const gatedOff = "gated-without-gc"

// Builtin returns the table of controllers. Of several generations of one name
// the last is the one that a name alone means.
func Builtin() []host.Controller {
	var table []host.Controller
	for _, kind := range []*replicas.Traits{replicaset.Kind, replication.Kind} {
		off := replicas.New(kind, replicas.Options{Generation: replicas.Gated})
		off.Generation = gatedOff
		table = append(table,
			replicas.New(kind, replicas.Options{Generation: replicas.Selector}),
			off,
			replicas.New(kind, replicas.Options{Generation: replicas.Gated, GarbageCollector: true}),
			replicas.New(kind, replicas.Options{Generation: replicas.ControllerRef}),
			replicas.New(kind, replicas.Options{Generation: replicas.Current}),
		)
	}
	for _, generation := range []deployment.Generation{deployment.Selector, deployment.Gated,
		deployment.ControllerRef, deployment.Current} {
		table = append(table, deployment.New(deployment.Options{Generation: generation}))
	}
	return append(table,
		statefulset.New(statefulset.Options{Generation: statefulset.Selector}),
		statefulset.New(statefulset.Options{Generation: statefulset.ControllerRef}),
		statefulset.New(statefulset.Options{Generation: statefulset.Current}),
		garbagecollector.New(garbagecollector.Without{}),
		namespace.New(namespace.Without{}),
		cronjob.Polling(cronjob.Selector),
		cronjob.Polling(cronjob.ControllerRef),
		cronjob.New(cronjob.Without{}),
		endpointslice.New(endpointslice.Without{}),
		disruption.New(),
		quota.New(),
		job.New(job.Options{Generation: job.Selector}),
		job.New(job.Options{Generation: job.Gated}),
		job.New(job.Options{Generation: job.ControllerRef}),
		job.New(job.Options{Generation: job.Current}),
		ttl.New(ttl.Without{}),
		claimprotection.New(claimprotection.Without{}),
		kubelet.New(kubelet.Options{Bind: "node-1"}),
		kubelet.New(kubelet.Options{}),
	)
}

var aliases = map[string]string{
	"rs":                    "replicaset",
	"replicasets":           "replicaset",
	"rc":                    "replication",
	"replicationcontroller": "replication",
	"jobs":                  "job",
	"ttlafterfinished":      "ttl-after-finished",
	"deploy":                "deployment",
	"deployments":           "deployment",
	"gc":                    "garbagecollector",
	"garbage-collector":     "garbagecollector",
	"cj":                    "cronjob",
	"cronjobs":              "cronjob",
	"sts":                   "statefulset",
	"statefulsets":          "statefulset",
}

// Aliases returns other names for controllers of the table: short ones, and those of
// kube-controller-manager.
func Aliases() map[string]string {
	all := KubeControllerManager().Aliases
	maps.Copy(all, aliases)
	return all
}

// FullName is a controller's name in the table: "name@generation", or "name" where
// there is one generation only.
func FullName(c *host.Controller) string {
	if c.Generation == "" {
		return c.Name
	}
	return c.Name + "@" + c.Generation
}
