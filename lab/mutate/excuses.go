package mutate

import "slices"

// Excuses are the mutants of this module that may survive.
var Excuses = slices.Concat(ofAll, ofReaders)

// ofAll are those of every file, then by file.
var ofAll = []Excuse{
	{"*", "*Digest", "*", Cosmetic, digests},
	{"*", "*digest", "*", Cosmetic, digests},
	{"*", "*", "drop left err != nil || !exists", Equivalent, "a lookup by key in a cache never fails"},
	{expectationsFile, "Expectations.ExpectCreations", "equal n > 0", Equivalent,
		"nobody expects none, and a record of none is fulfilled"},
	{expectationsFile, "Expectations.ExpectCreations", "without made: names[:0:n]", Performance,
		"the list grows by itself"},
	{expectationsFile, "Expectations.ExpectCreations", "without early: names[n:n]", Performance,
		"the list grows by itself"},
	{expectationsFile, "Expectations.ExpectDeletions", "equal len(objects) > 0", Equivalent,
		"nobody expects none, and a record of none is fulfilled"},
	{expectationsFile, "Expectations.Dying", dying, Equivalent, dyingTwice},
	{expectationsFile, "Expectations.Dying", "drop right" + dying[len("drop left"):], Equivalent, dyingTwice},
	{expectationsFile, "Expectations.Dying", "drop left r.open && !slices.Contains(r.early, object)", Equivalent,
		dyingTwice},
	{expectationsFile, "Expectations.Dying", "drop right r.open && !slices.Contains(r.early, object)", Equivalent,
		dyingTwice},
	{expectationsFile, "Expectations.Satisfied", "drop right r == nil || r.fulfilled()", Equivalent,
		"a record that is fulfilled is deleted, but for one that is open, which no sync asks"},
	{"controllers/internal/statefulset/bounds.go", "row.gives", "equal i > number", Equivalent,
		"the pod that is written is not in the row"},
	{"controllers/internal/cronjob/bounds.go", "forgets", "equal byStart(j, job) > 0", Equivalent,
		"no two Jobs have one name"},
	{"controllers/ref/selects.go", "Parse", "equal len(s.MatchExpressions) > 0", Performance,
		"what is read in full says the same"},
	{"controllers/internal/consistency/consistency.go", "Store.Wrote", "equal c < 0", Equivalent,
		"a version is replaced by itself"},
	{"controllers/internal/history/history.go", "History.Truncate", "equal len(old) <= limit", Equivalent,
		"where there are as many as the limit none is beyond it"},
	{"controllers/internal/history/history.go", "History.Truncate", "without UID: &r.UID", Equivalent,
		"no namesake has the resourceVersion that is asked for as well"},
	{"controllers/internal/pod/pod.go", "NextAvailable", "equal d < next", Equivalent,
		"of two times that are equal it is no matter which is kept"},
	{"controllers/internal/ttl/ttl.go", "cleaner.Sync", "no error return err", Equivalent,
		"a lookup by key in a cache never fails"},
	{"controllers/internal/ttl/ttl.go", "cleaner.Sync", "without UID: &j.UID", Equivalent,
		"no namesake has the resourceVersion that is asked for as well"},
	{"controllers/internal/replicas/kind.go", "Set.selectsNothing", "drop left s.expressions != nil && *", Equivalent,
		"equal labels that there are make a selector"},
	{"controllers/internal/pod/labelled.go", "Labelled", "equal k < first", Equivalent, "no two labels have one key"},
	{"controllers/internal/replicas/scale.go", "reconciler.scale", "equal missing > 0", Equivalent,
		"to create none is to do nothing"},
	{"controllers/internal/replicas/status.go", "replicaFailure", "equal have < set.Replicas", Equivalent,
		"where there are as many as are wanted nothing is done that could fail"},
	{jobDir + "claim.go", "reconciler.claim", "drop right !metav1.IsControlledBy(p, j) && !tracked(p)", Equivalent,
		"a copy that names the finalizer twice is tracked as well"},
	{jobDir + "claim.go", "reconciler.claim", "*len(m.Finalizers) > 0", Equivalent,
		"eras that put no finalizer on pods do not ask whether it is on"},
	{jobDir + "index.go", "indexPrefix", "equal len(name)+len(suffix) > maxPrefix", Equivalent, ownLength},
	{jobDir + "index.go", "attempt.newIndexes", "equal left < wait", Equivalent,
		"of two times that are equal it is no matter which is kept"},
	{jobDir + "intervals.go", "intervals.union", "equal list[0].first < other[0].first", Equivalent,
		"of two that begin alike either may be added first"},
	{jobDir + "manage.go", "attempt.carryOn", "no error return err", Equivalent,
		"where enough have succeeded and none is at work nothing is done that could fail"},
	{jobDir + "orphan.go", "tallies", "drop right metav1.IsControlledBy(o, j) && indexOf(o) == i && o.UID != p.UID",
		Equivalent, "a pod that is being deleted is not at work, and does not follow itself"},
	{jobDir + "old.go", "attempt.scaleOld", "equal n > 0*", Equivalent, "to create or to delete none is to do nothing"},
	{jobDir + "pods.go", "onlyFailed", "drop right j.Spec.PodReplacementPolicy != nil && * || *", Equivalent,
		defaulted + ", to Failed where there is a failure policy"},
	{deploymentDir + "cleanup.go", "rollout.cleanUp", "equal len(history) <= limit", Equivalent,
		"where there are as many as the limit none is beyond it"},
	{deploymentDir + "create.go", "*setName", "equal len(deployment) > room", Equivalent, ownLength},
	{deploymentDir + "create.go", "rollout.create", "drop rs = obj.(*appsv1.ReplicaSet)", Equivalent,
		"what has just been made has the size that it is to have, and is not written again in the sync"},
	{deploymentDir + "rolling.go", "rollout.grow", "equal size(rs) >= replicas(u.d)", Equivalent,
		"where there are as many as are asked for there is room for none"},
	{deploymentDir + "rolling.go", "rollout.shrink", "negate return false #2", Equivalent, afterError},
	{deploymentDir + "rolling.go", "rollout.takeFrom", "negate return took", Equivalent, afterError},
	{deploymentDir + "limits.go", "hasDeadline", "drop left s != nil && *s != math.MaxInt32", Equivalent, defaulted},
	{deploymentDir + "limits.go", "keepsHistory", "drop left n == nil || *n == math.MaxInt32", Equivalent, defaulted},
	{deploymentDir + "limits.go", "keepsHistory", "drop right n == nil || *n == math.MaxInt32", Equivalent,
		"nobody has more ReplicaSets than the highest number"},
	{deploymentDir + "scale.go", "rollout.part", "equal change > 0", Equivalent, "of no change nothing is left"},
	{deploymentDir + "scale.go", "rollout.shareAmong", "equal change > 0", Equivalent,
		"where nothing changes nobody has a part"},
	{daemonsetDir + "daemonset.go", "selects", "drop left s != nil && *", Equivalent, demanded},
	{daemonsetDir + "place.go", "work.place", "equal len(running) > 1", Equivalent, "of one none is beyond the first"},
	{daemonsetDir + "revision.go", "work.cleanUp", "equal surplus <= 0*", Equivalent,
		"the loop ends before the first where none is beyond the limit"},
	{statefulsetDir + "identity.go", "identified", "drop right *p.Name == nameOf(set, ordinal(p))", Equivalent,
		canonical},
	{statefulsetDir + "sync.go", "reconciler.Sync", "drop r.Forget(key)", Performance,
		"what was written is not waited for once a sync has begun, and the template is kept in vain"},
	{statefulsetDir + "update.go", "syncing.tend", "negate return true #5", Equivalent,
		"whoever is told of an error goes no further"},
	{statefulsetDir + "versions.go", "syncing.truncate",
		"drop right s.going() || s.set.Spec.RevisionHistoryLimit == nil", Equivalent, defaulted},
	{"controllers/internal/history/data.go", "Memo.Data", "drop m[key] = e", Performance,
		"it is worked out anew each time"},
	{daemonsetDir + "sync.go", "reconciler.Forget", `drop r.written.Clear(key, "")`, Performance,
		"what a set that is gone wrote is kept in vain: the caches show it by then"},
	{daemonsetDir + "sync.go", "reconciler.Forget", "drop delete(r.encoded, key)", Performance,
		"the template of a set that is gone is kept in vain: another of the name has another uid"},
	{statefulsetDir + "controller.go", "reconciler.Forget", "drop delete(r.encoded, key)", Performance,
		"the template of a set that is gone is kept in vain: another of the name has another uid"},
	{statefulsetDir + "update.go", "partition", "drop right u != nil && u.Partition != nil", Equivalent, defaulted},
	{"controllers/ref/patch.go", "adoptPatch", "drop buf = slices.Grow(buf, adoptSize)", Performance,
		"append grows the buffer by itself, in more steps"},
	{"controllers/ref/patch.go", "appendString", "equal c < 0x20", Equivalent,
		"a space is quoted by the encoder, as itself"},
	{"controllers/ref/patch.go", "appendString", "equal c >= 0x7f", Equivalent,
		"DEL is quoted by the encoder, as itself"},
	{"controllers/routing/dependents.go", "Dependents.updated", "equal after > 0", Performance,
		"a key that is queued is queued once more"},
	{"controllers/routing/tiebreak.go", "older", "equal x.GetName() < y.GetName()", Equivalent,
		"no two in a namespace have one name"},
}

// Reasons that several rows have.
const (
	expectationsFile = "controllers/internal/expectations/expectations.go"

	jobDir         = "controllers/internal/job/"
	deploymentDir  = "controllers/internal/deployment/"
	daemonsetDir   = "controllers/internal/daemonset/"
	statefulsetDir = "controllers/internal/statefulset/"

	defaulted        = "the server defaults it"
	demanded         = "the server takes none without a selector"
	ownLength        = "what is exactly as long as it may be is cut to its own length"
	readyIsAvailable = "what is ready is available where it need not be so for any time"

	digests    = "no controller acts by its digest: it tells states apart for exhaustive search"
	afterError = "with an error nobody asks whether something has moved"
	canonical  = "a member's name is the one that its ordinal gives"
	dying      = "drop left r.open && !slices.Contains(r.early, object) && !slices.Contains(r.dying, object)"
	dyingTwice = "a name that stands there twice, or in both lists, goes when the round of creations is over"
)

// ofReaders are those of the controllers that own no pods: they collect, count, tell or put
// somewhere what others own.
var ofReaders = []Excuse{
	{"controllers/garbagecollector/collect.go", "collector.collect", `drop left n.virtual && n.namespace == ""`,
		Equivalent,
		"what was seen without a namespace is of a kind without namespaces"},
	{"controllers/garbagecollector/report.go", "collector.report", "drop delete(c.complaints, about)", Performance,
		"what was complained of is kept for nothing"},
	{"controllers/internal/volumeprotection/volumeprotection.go", "controller.Sync", "no error return err", Equivalent,
		inCache},
	{"controllers/internal/volumeprotection/volumeprotection.go", "wake", "drop right ok && misplaced(v)", Performance,
		"what is in its place is looked at, and let be"},
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
