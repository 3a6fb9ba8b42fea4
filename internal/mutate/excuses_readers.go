package mutate

// ofReaders are those of the controllers that own no pods: they collect, count, tell or put
// somewhere what others own.
var ofReaders = []Excuse{
	{"controllers/garbagecollector/collect.go", "collector.collect", `drop left n.virtual && n.namespace == ""`,
		Equivalent,
		"what was seen without a namespace is of a kind without namespaces"},
	{"controllers/garbagecollector/report.go", "collector.report", "drop delete(c.complaints, about)", Performance,
		"what was complained of is kept for nothing"},
	{"controllers/internal/claimprotection/claimprotection.go", "controller.Sync", "no error return err", Equivalent,
		inCache},
	{"controllers/internal/cronjob/controller.go", "reconciler.Sync", "no error return err", Equivalent, inCache},
	{"controllers/internal/cronjob/controller.go", "reconciler.Sync", "without ctx: ctx", Equivalent, noContext},
	{"controllers/internal/cronjob/controller.go", "reconciler.children", "nothing template := *", Equivalent,
		"only a mutant made by hand asks for the template's labels"},
	{"controllers/internal/cronjob/observe.go", "round.lookAgain", "negate return false*", Equivalent,
		"of what failed nobody asks whether the Job was there"},
	{"controllers/internal/cronjob/poll.go", "poller.Sync", "without ctx: ctx", Equivalent, noContext},
	{"controllers/internal/disruption/disruption.go", "reconciler.Sync", "no error return err", Equivalent, inCache},
	{"controllers/internal/disruption/disruption.go", "wakeForPod", "drop left there && announced(pod) != nil",
		Performance,
		"a pod that is gone is not found when it is looked at"},
	{"controllers/internal/disruption/stale.go", "reconciler.stays", "no error return err", Equivalent, inCache},
	{"controllers/internal/disruption/status.go", "stillAwaited", "equal left < first", Equivalent,
		"of two times that are equal it is no matter which is kept"},
	{"controllers/internal/elector/elector.go", "New", "without Workers: 1", Equivalent,
		"it has one key, which no two workers have at once"},
	{"controllers/internal/elector/elector.go", "elector.write", "drop e.lease, e.since = *", Equivalent,
		"what it has written it reads at its next look, and how old its own lease is does not matter"},
	{"controllers/internal/endpointslice/controller.go", "reconciler.Sync", "no error return err", Equivalent,
		inCache},
	{"controllers/internal/endpointslice/endpoint.go", "addresses",
		"drop left err == nil && a.Is6() == (family == discoveryv1.AddressTypeIPv6)", Equivalent,
		"the server takes only addresses that can be read"},
	{"controllers/internal/endpointslice/plan.go", "group.plan", "equal len(g.slices) > 1", Equivalent,
		"of one slice none is too many: it is the first, which is kept"},
	{"controllers/internal/endpointslice/watch.go", "reconciler.behind", "negate return false", Equivalent,
		"of what failed nobody asks whether it is behind"},
	{"controllers/internal/podgc/round.go", "collector.ended", "equal c.options.Threshold < 0", Equivalent,
		"a threshold of 0 stands for the usual one"},
	{"controllers/internal/quota/quota.go", "reconciler.Sync", "no error return err", Equivalent, inCache},
	{"controllers/internal/quota/quota.go", "reconciler.measure", "equal left < soon", Equivalent,
		"of two times that are equal it is no matter which is kept"},
	{"controllers/internal/replicaset/replicaset.go", "read", "without Replicas: 1", Equivalent, defaulted},
	{"controllers/internal/replication/replication.go", "read", "without Replicas: 1", Equivalent, defaulted},
	{"controllers/internal/scheduler/scheduler.go", "scheduler.Sync", "no error return err", Equivalent, inCache},
	{"controllers/internal/scheduler/scheduler.go", "scheduler.bind", "without Namespace: pod.Namespace #2",
		Equivalent, whichPod},
	{"controllers/internal/scheduler/scheduler.go", "scheduler.bind", "without Name: pod.Name #2", Equivalent,
		whichPod},
	{"controllers/internal/scheduler/scheduler.go", "scheduler.bind", `without Kind: "Node"`, Equivalent, nodeOnly},
	{"controllers/kubelet/kubelet.go", "kubelet.Sync", "no error return err", Equivalent, inCache},
	{"controllers/kubelet/kubelet.go", "kubelet.bind", "without Namespace: pod.Namespace #2", Equivalent, whichPod},
	{"controllers/kubelet/kubelet.go", "kubelet.bind", "without Name: pod.Name #2", Equivalent, whichPod},
	{"controllers/kubelet/kubelet.go", "kubelet.bind", `without Kind: "Node"`, Equivalent, nodeOnly},
	{"controllers/kubelet/lifelike.go", "indexAddresses", `drop left pod.Status.PodIP == "" || *`, Equivalent,
		"nobody looks for the pods that have no address"},
	{"controllers/namespace/content.go", "controller.deletePods", "drop left t == nil || *", Equivalent,
		"only for a mutant made by hand is a namespace emptied that nobody deletes"},
	{"controllers/namespace/controller.go", "controller.Sync", "no error return err", Equivalent, inCache},
	{"controllers/reaper/reaper.go", "reaper.alone", "negate return false*", Equivalent,
		"of what failed nobody asks whether it was alone"},
	{"controllers/routing/dependents.go", "blocks", "negate return *", Equivalent,
		"two of its answers are compared: it is the same when both are turned"},
}

// Reasons that several of these rows have.
const (
	inCache   = "a lookup by key in a cache never fails"
	noContext = "no client here looks at the context: a process that dies takes its requests with it"
	whichPod  = "which pod is bound the request says"
	nodeOnly  = "pods are bound to nodes only, and the server takes a target that names no kind for one"
)
