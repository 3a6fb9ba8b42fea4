package controllers

import (
	"github.com/threelaws/threelaws/controllers/internal/claimprotection"
	"github.com/threelaws/threelaws/controllers/internal/cronjob"
	"github.com/threelaws/threelaws/controllers/internal/daemonset"
	"github.com/threelaws/threelaws/controllers/internal/deployment"
	"github.com/threelaws/threelaws/controllers/internal/disruption"
	"github.com/threelaws/threelaws/controllers/internal/endpointslice"
	"github.com/threelaws/threelaws/controllers/internal/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/job"
	"github.com/threelaws/threelaws/controllers/internal/namespace"
	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/controllers/internal/quota"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/controllers/internal/replication"
	"github.com/threelaws/threelaws/controllers/internal/scheduler"
	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/controllers/internal/ttl"
	"github.com/threelaws/threelaws/controllers/internal/volumeprotection"
	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/sim/host"
)

// gatedOff is the gated era without the garbage collector. The controller then behaves as in the selector era.
const gatedOff = "gated-without-gc"

// Builtin returns the table of controllers. A name without an era stands for the latest era of that controller.
func Builtin() []host.Controller {
	var table []host.Controller
	for _, kind := range []*replicas.Traits{replicaset.Kind, replication.Kind} {
		off := replicas.New(kind, replicas.Options{Era: replicas.Gated})
		off.Era = gatedOff
		table = append(table,
			replicas.New(kind, replicas.Options{Era: replicas.Selector}),
			off,
			replicas.New(kind, replicas.Options{Era: replicas.Gated, GarbageCollector: true}),
			replicas.New(kind, replicas.Options{Era: replicas.ControllerRef}),
			replicas.New(kind, replicas.Options{Era: replicas.Current}),
		)
	}
	return append(table,
		deployment.New(deployment.Options{Era: deployment.Selector}),
		deployment.New(deployment.Options{Era: deployment.Gated}),
		deployment.New(deployment.Options{Era: deployment.ControllerRef}),
		deployment.New(deployment.Options{Era: deployment.Current}),
		statefulset.New(statefulset.Options{Era: statefulset.Selector}),
		statefulset.New(statefulset.Options{Era: statefulset.ControllerRef}),
		statefulset.New(statefulset.Options{Era: statefulset.Current}),
		daemonset.New(daemonset.Options{Era: daemonset.Selector}),
		daemonset.New(daemonset.Options{Era: daemonset.Gated}),
		daemonset.New(daemonset.Options{Era: daemonset.ControllerRef}),
		daemonset.New(daemonset.Options{Era: daemonset.Current}),
		job.New(job.Options{Era: job.Selector}),
		job.New(job.Options{Era: job.Gated}),
		job.New(job.Options{Era: job.ControllerRef}),
		job.New(job.Options{Era: job.Current}),
		cronjob.Polling(cronjob.Selector),
		cronjob.Polling(cronjob.ControllerRef),
		cronjob.New(cronjob.Without{}),
		garbagecollector.New(garbagecollector.Without{}),
		namespace.New(namespace.Without{}),
		podgc.New(podgc.Options{}),
		ttl.New(ttl.Without{}),
		claimprotection.New(claimprotection.Without{}),
		volumeprotection.New(volumeprotection.Without{}),
		endpointslice.New(endpointslice.Without{}),
		disruption.New(),
		quota.New(),
		scheduler.New(),
		kubelet.New(kubelet.Options{Bind: "node-1"}),
		kubelet.New(kubelet.Options{Endless: true}),
		kubelet.New(kubelet.Options{}),
	)
}

var aliases = map[string]string{
	"rs":                               "replicaset",
	"replicasets":                      "replicaset",
	"rc":                               "replication",
	"replicationcontroller":            "replication",
	"deploy":                           "deployment",
	"deployments":                      "deployment",
	"sts":                              "statefulset",
	"statefulsets":                     "statefulset",
	"ds":                               "daemonset",
	"daemonsets":                       "daemonset",
	"jobs":                             "job",
	"cj":                               "cronjob",
	"cronjobs":                         "cronjob",
	"gc":                               "garbagecollector",
	"garbage-collector":                "garbagecollector",
	"pod-garbage-collector":            "podgc",
	"pod-garbage-collector-controller": "podgc",
	"ttlafterfinished":                 "ttl-after-finished",
	"kube-scheduler":                   "scheduler",
}
