package controllers

import (
	"maps"

	"github.com/threelaws/threelaws/controllers/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/daemonset"
	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/controllers/internal/replication"
	"github.com/threelaws/threelaws/controllers/internal/scheduler"
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
		)
	}
	for _, g := range []daemonset.Generation{daemonset.Selector, daemonset.Gated, daemonset.ControllerRef,
		daemonset.Current} {
		table = append(table, daemonset.New(daemonset.Options{Generation: g}))
	}
	return append(table,
		garbagecollector.New(garbagecollector.Without{}),
		namespace.New(namespace.Without{}),
		podgc.New(podgc.Options{}),
		scheduler.New(),
		kubelet.New(kubelet.Options{Bind: "node-1"}),
		kubelet.New(kubelet.Options{Ends: true}),
		kubelet.New(kubelet.Options{}),
	)
}

var aliases = map[string]string{
	"rs":                    "replicaset",
	"replicasets":           "replicaset",
	"rc":                    "replication",
	"replicationcontroller": "replication",
	"gc":                    "garbagecollector",
	"garbage-collector":     "garbagecollector",

	"pod-garbage-collector":            "podgc",
	"pod-garbage-collector-controller": "podgc",
	"ds":                               "daemonset",
	"daemonsets":                       "daemonset",
	"kube-scheduler":                   "scheduler",
}

// Aliases returns other names for controllers of the table.
func Aliases() map[string]string { return maps.Clone(aliases) }

// FullName is a controller's name in the table: "name@generation", or "name" where
// there is one generation only.
func FullName(c *host.Controller) string {
	if c.Generation == "" {
		return c.Name
	}
	return c.Name + "@" + c.Generation
}
