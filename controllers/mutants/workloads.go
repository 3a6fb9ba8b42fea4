package mutants

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/daemonset"
	"github.com/threelaws/threelaws/controllers/internal/deployment"
	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var daemonSetMutants = []mutant{
	{"daemonset/acts-while-deleting", "ADOPT-3", "ADOPT-3",
		"creates and deletes pods while it is being deleted",
		daemon(func(w *daemonset.Without) { w.Terminating = true })},
	{"daemonset/skip-recheck", "ADOPT-4", "ADOPT-4",
		"adopts pods on the word of its cache",
		daemon(func(w *daemonset.Without) { w.Ref.LiveCheck = true })},
	{"daemonset/skip-recheck-of-revisions", "ADOPT-4", "ADOPT-4",
		"adopts revisions on the word of its cache",
		daemon(func(w *daemonset.Without) { w.Revisions.LiveCheck = true })},
	{"daemonset/keep-unselected", "ORPHAN-1", "ORPHAN-1",
		"keeps pods that no longer match",
		daemon(func(w *daemonset.Without) { w.Ref.Mismatch = true })},
	{"daemonset/claim-foreign", "LAW-2", "LAW-2",
		"treats matching pods of other controllers as its own",
		daemon(func(w *daemonset.Without) { w.Ref.Foreign = true })},
	{"daemonset/count-unowned", "LAW-3", "LAW-2",
		"counts every matching pod for its node, whatever its owner is",
		daemon(func(w *daemonset.Without) { w.OwnCount = true })},
	{"daemonset/status-counts-unowned", "LAW-3", "one-on-each-node",
		"counts every matching pod in its status, whatever its owner is",
		daemon(func(w *daemonset.Without) { w.OwnStatus = true })},
	{"daemonset/create-without-ref", "LAW-1", "LAW-1",
		"creates pods without a reference to itself",
		daemon(func(w *daemonset.Without) { w.TakeOwned = true })},
	{"daemonset/waits-for-nothing", "EXACT-3", "EXACT-3",
		"creates pods that it has created already, and does not see yet",
		daemon(func(w *daemonset.Without) { w.Wait, w.Consistent = true, true })},
	{"daemonset/sleeps-on-what-it-lost", "WATCH-7", "WATCH-7",
		"waits for a deletion that no event will show",
		daemon(func(w *daemonset.Without) { w.Recheck = true })},
	{"daemonset/pending-pods-are-nowhere", "KIND-DS", "EXACT-3",
		"does not count a pod for the node that it is made for before it is bound",
		daemon(func(w *daemonset.Without) { w.Target = true })},
	{"daemonset/two-on-a-node", "KIND-DS", "one-on-each-node",
		"leaves several pods on a node",
		daemon(func(w *daemonset.Without) { w.Surplus = true })},
	{"daemonset/every-node", "KIND-DS", "one-on-each-node",
		"makes a pod for each node, whatever its labels and taints are",
		daemon(func(w *daemonset.Without) { w.Eligible = true })},
	{"daemonset/stays-on-lost-nodes", "KIND-DS", "one-on-each-node",
		"leaves pods on nodes that are not eligible any more",
		daemon(func(w *daemonset.Without) { w.Evict = true })},
	{"daemonset/ended-pods-stay", "KIND-DS", "one-on-each-node",
		"leaves pods that have failed",
		daemon(func(w *daemonset.Without) { w.Ended = true })},
	{"daemonset/ended-pods-block", "KIND-DS", "one-on-each-node",
		"makes no new pod while one that has ended is kept by a finalizer",
		daemon(func(w *daemonset.Without) { w.Dying = true })},
	{"daemonset/keeps-pods-of-lost-nodes", "KIND-DS", "one-on-each-node",
		"leaves pods that wait for a node that is gone",
		daemon(func(w *daemonset.Without) { w.Lost = true })},
	{"daemonset/percent-of-all-nodes", "EXACT-11", "stay-within-bounds",
		"replaces so many per cent of all nodes at a time, and not of those that are to have a pod",
		daemon(func(w *daemonset.Without) { w.AllNodes = true })},
	{"daemonset/rolls-on", "EXACT-11", "stay-within-bounds",
		"replaces the next pod before the one that it replaced is available",
		daemon(func(w *daemonset.Without) { w.Missing = true })},
	{"daemonset/surges-everywhere", "EXACT-11", "stay-within-bounds",
		"puts a pod of the new template beside each old one, whatever the surge is",
		daemon(func(w *daemonset.Without) { w.Crowded = true })},
	{"daemonset/impatient", "WRITE-8", "WRITE-8",
		"replaces a pod that fails again and again as fast as it fails",
		daemon(func(w *daemonset.Without) { w.Patience = true })},
	{"daemonset/delete-any-incarnation", "EXACT-4", "EXACT-4",
		"deletes whatever pod has the name by now",
		daemon(func(w *daemonset.Without) { w.VictimUID = true })},
	{"daemonset/duplicates-unreported", "KIND-DS", "needed-objects-exist",
		"deletes a duplicate of its current revision without telling the pods that are of it",
		daemon(func(w *daemonset.Without) { w.Relabel = true })},
	{"daemonset/relabels-by-name", "EXACT-4", "EXACT-4",
		"tells whatever pod has the name by now which revision it is of",
		daemon(func(w *daemonset.Without) { w.RelabelUID = true })},
	{"daemonset/name-is-content", "LAW-3", "needed-objects-exist",
		"takes a revision whose name it wanted for its own, whatever that holds",
		daemon(func(w *daemonset.Without) { w.Collision = true })},
	{"daemonset/forgets-revisions-in-use", "KIND-DS", "needed-objects-exist",
		"deletes revisions that pods are of",
		daemon(func(w *daemonset.Without) { w.InUse = true })},
	{"daemonset/forgets-any-revision", "EXACT-4", "EXACT-4",
		"deletes whatever revision has the name by now",
		daemon(func(w *daemonset.Without) { w.RevisionUID = true })},
	{"daemonset/mutate-the-cache", "WRITE-5", "WRITE-5",
		"changes a set in its cache",
		daemon(func(w *daemonset.Without) { w.SharedCache = true })},
	{"daemonset/resync-is-change", "WRITE-9", "WRITE-9",
		"takes a resync for a change, and writes its status for it",
		daemon(func(w *daemonset.Without) { w.Routing.Resync, w.Unchanged = true, true })},
}

func daemon(f func(w *daemonset.Without)) build {
	o := daemonset.Options{Era: daemonset.Current}
	f(&o.Without)
	return build{func() host.Controller { return daemonset.New(o) }, o.Without}
}

func rolling(f func(w *deployment.Without)) build {
	o := deployment.Options{Era: deployment.Current}
	f(&o.Without)
	return build{func() host.Controller { return deployment.New(o) }, o.Without}
}

var deploymentMutants = []mutant{
	{"deployment/skip-recheck", "ADOPT-4", "ADOPT-4",
		"adopts ReplicaSets on the word of its cache, without reading itself live first",
		rolling(func(w *deployment.Without) { w.Ref.LiveCheck = true })},
	{"deployment/claim-foreign", "LAW-2", "LAW-2",
		"treats matching ReplicaSets of other Deployments as its own, and scales them down as old ones",
		rolling(func(w *deployment.Without) { w.Ref.Foreign = true })},
	{"deployment/keep-unselected", "ORPHAN-1", "ORPHAN-1",
		"keeps ReplicaSets that no longer match",
		rolling(func(w *deployment.Without) { w.Ref.Mismatch = true })},
	{"deployment/status-counts-unowned", "LAW-3", "EXACT-8",
		"counts the pods of every matching ReplicaSet in its status, whatever its owner is",
		rolling(func(w *deployment.Without) { w.OwnStatus = true })},
	{"deployment/count-before-claim", "UPGRADE-1", "EXACT-3",
		"looks for its ReplicaSet among those that it owned before it adopted orphans, and makes another",
		rolling(func(w *deployment.Without) { w.ClaimFirst = true })},
	{"deployment/create-without-ref", "LAW-1", "LAW-1",
		"makes ReplicaSets without a reference to itself",
		rolling(func(w *deployment.Without) { w.TakeOwned = true })},
	{"deployment/roll-while-deleting", "ADOPT-3", "ADOPT-3",
		"goes on rolling out while it is being deleted",
		rolling(func(w *deployment.Without) { w.Terminating = true })},
	{"deployment/annotate-while-deleting", "ADOPT-3", "ADOPT-3",
		"writes the annotations of its ReplicaSet while it is being deleted",
		rolling(func(w *deployment.Without) { w.Untouched = true })},
	{"deployment/name-by-chance", "EXACT-3", "EXACT-3",
		"makes ReplicaSets whose names do not follow from the template, and another while its cache shows none",
		rolling(func(w *deployment.Without) { w.NameOfTemplate = true })},
	{"deployment/take-what-has-the-name", "LAW-2", "LAW-2",
		"takes a ReplicaSet that has the name of the one it wants for it, though another owns it",
		rolling(func(w *deployment.Without) { w.Taken = true })},
	{"deployment/collide-for-ever", "WRITE-8", "EXACT-7",
		"tries the name that is taken again and again",
		rolling(func(w *deployment.Without) { w.Collisions = true })},
	{"deployment/find-by-hash", "UPGRADE-1", "EXACT-3",
		"knows its ReplicaSet by the hash that it would give it itself, not by the template",
		rolling(func(w *deployment.Without) { w.SameTemplate = true })},
	{"deployment/forget-any-incarnation", "EXACT-4", "EXACT-4",
		"deletes old ReplicaSets by name, whatever has it by now",
		rolling(func(w *deployment.Without) { w.VictimUID = true })},
	{"deployment/forget-what-is-at-work", "EXACT-11", "stay-within-bounds",
		"deletes old ReplicaSets none of whose pods is ready",
		rolling(func(w *deployment.Without) { w.Idle = true })},
	{"deployment/all-at-once", "EXACT-11", "stay-within-bounds",
		"asks for all pods of a new template at once, whatever surge is allowed",
		rolling(func(w *deployment.Without) { w.Room = true })},
	{"deployment/gives-up-too-much", "EXACT-11", "stay-within-bounds",
		"gives up old pods before there are others that are available",
		rolling(func(w *deployment.Without) { w.Least = true })},
	{"deployment/starts-beside-the-old", "EXACT-11", "stay-within-bounds",
		"asks for new pods while old ones run, though they are to be recreated",
		rolling(func(w *deployment.Without) { w.Empty = true })},
	{"deployment/resync-is-change", "WRITE-9", "WRITE-9",
		"takes a resync for a change, and writes the status that is there already",
		rolling(func(w *deployment.Without) { w.Routing.Resync, w.Unchanged = true, true })},
	{"deployment/delete-pods", "KIND-DEPLOY", "LAW-2",
		"deletes the pods of old ReplicaSets itself",
		rolling(func(w *deployment.Without) { w.Pods = true })},
}

var statefulSetMutants = []mutant{
	{"statefulset/any-name", "KIND-STS-1", "ADOPT-1",
		"adopts pods whatever their names are",
		sts(func(w *statefulset.Without) { w.Member = true })},
	{"statefulset/member-by-prefix", "KIND-STS-1", "ADOPT-1",
		"treats pods of a set whose name begins with its own as its pods, and declares that as right",
		byPrefix()},
	{"statefulset/two-of-a-number", "KIND-STS-1", "ADOPT-1",
		"takes web-01 for web-1, and has that number twice",
		sts(func(w *statefulset.Without) { w.Canonical = true })},
	{"statefulset/works-while-terminating", "ADOPT-3", "ADOPT-3",
		"makes pods for a set that is being deleted",
		sts(func(w *statefulset.Without) { w.Terminating, w.Ref.Deletion = true, true })},
	{"statefulset/deletes-by-name", "EXACT-4", "EXACT-4",
		"deletes the pod that has taken the name of the one it means",
		sts(func(w *statefulset.Without) { w.VictimUID = true })},
	{"statefulset/repairs-by-name", "LAW-2", "LAW-2",
		"puts the labels of its pod on whatever pod has the name",
		sts(func(w *statefulset.Without) { w.Canonical, w.SamePod = true, true })},
	{"statefulset/status-by-name", "ADOPT-8", "ADOPT-8",
		"writes the status of a set that is gone to its successor",
		sts(func(w *statefulset.Without) { w.SameSet = true })},
	{"statefulset/remakes-the-held", "EXACT-7", "EXACT-7",
		"makes a pod that has ended again before it is gone, and tries so for as long as a finalizer holds it",
		sts(func(w *statefulset.Without) { w.Ended = true })},
	{"statefulset/rolls-at-once", "EXACT-11", "stay-within-bounds",
		"replaces pod after pod in a rolling update, and waits for none",
		sts(func(w *statefulset.Without) { w.RollAlone = true })},
	{"statefulset/rolls-on", "EXACT-11", "stay-within-bounds",
		"replaces the next pod in a rolling update before the one that it replaced is available",
		sts(func(w *statefulset.Without) { w.RollUnready = true })},
	{"statefulset/ignores-the-partition", "EXACT-11", "stay-within-bounds",
		"replaces pods that an update leaves alone",
		sts(func(w *statefulset.Without) { w.Partition = true })},
	{"statefulset/all-at-once", "EXACT-11", "stay-within-bounds",
		"makes and deletes the pods of an ordered set all at once",
		sts(func(w *statefulset.Without) { w.Order = true })},
	{"statefulset/never-the-same", "NOFIGHT-1", "NOFIGHT-1",
		"makes a new revision at every sync, since none ever equals one made before",
		sts(func(w *statefulset.Without) { w.Drift = true })},
	{"statefulset/no-other-name", "WRITE-8", "EXACT-7",
		"fails for ever when the name of a revision is taken by another",
		sts(func(w *statefulset.Without) { w.History.Collision = true })},
	{"statefulset/forgets-what-is-in-use", "LAW-2", "needed-objects-exist",
		"deletes revisions that its pods are at",
		sts(func(w *statefulset.Without) { w.History.Live = true })},
	{"statefulset/owns-claims-later", "GC-1", "LAW-1",
		"gives claims their owners when it sees them, and leaves them behind when it is deleted before",
		sts(func(w *statefulset.Without) { w.ClaimLater = true })},
	{"statefulset/misses-claims", "NOFIGHT-3", "NOFIGHT-3",
		"waits for a claim to be deleted, and no event of the claim enqueues it",
		sts(func(w *statefulset.Without) { w.ClaimEvents = true })},
	{"statefulset/waits-to-see-it-go", "WRITE-3", "tie-before-deleting",
		"gives the claims of a pod that is not wanted away when it sees it go, and misses one that goes at once",
		sts(func(w *statefulset.Without) { w.GoingSeen = true })},
	{"statefulset/mounts-terminating-claims", "GC-1", "needed-objects-exist",
		"makes a pod although its claim is about to be collected with the pod's predecessor",
		sts(func(w *statefulset.Without) { w.StaleClaim = true })},
	{"statefulset/inherits-claims", "ADOPT-8", "LAW-2",
		"takes claims of an earlier set of its name over",
		sts(func(w *statefulset.Without) { w.Recreated, w.Strange = true, true })},
	{"statefulset/shares-claims", "LAW-2", "EXACT-7",
		"tries for ever to change the owners of another controller's claim",
		sts(func(w *statefulset.Without) { w.Strange = true })},
}

// sweepers delete the PersistentVolumeClaims of a terminating set. They find the claims by name or label, which is
// wrong: only owner references show the owner of a claim.
var sweepers = []mutant{
	{"statefulset/sweeps-by-name", "ADOPT-8", "LAW-2",
		"deletes the claims of a terminating set by their names, whatever their owners are now",
		sweeper(func(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool {
			return strings.HasPrefix(claim.Name, set.Spec.VolumeClaimTemplates[0].Name+"-"+set.Name+"-")
		})},
	{"statefulset/sweeps-by-label", "ADOPT-8", "LAW-2",
		"deletes the claims of a terminating set by their labels, whatever their owners are now",
		sweeper(func(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool {
			return labels.SelectorFromSet(set.Spec.Selector.MatchLabels).Matches(labels.Set(claim.Labels))
		})},
}

var claimKind = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

// sweeper returns a StatefulSet controller. For a terminating set it deletes the claims for which the function returns
// true.
func sweeper(its func(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool) build {
	return build{make: func() host.Controller {
		c := statefulset.New(statefulset.Options{Era: statefulset.Current})
		inner := c.New
		c.New = func(env *host.Env) host.Reconciler {
			return &sweeping{statefulSet: inner(env).(statefulSet), env: env, its: its}
		}
		return c
	}}
}

type statefulSet interface {
	host.Reconciler
	Forget(key string)
	Digest(h *sim.Hash)
}

type sweeping struct {
	statefulSet
	env *host.Env
	its func(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool
}

func (s *sweeping) Sync(ctx context.Context, key string) error {
	obj, exists, _ := s.env.Informer(statefulset.Kind).GetIndexer().GetByKey(key)
	if !exists || obj.(*appsv1.StatefulSet).DeletionTimestamp == nil {
		return s.statefulSet.Sync(ctx, key)
	}
	set := obj.(*appsv1.StatefulSet)
	for _, obj := range s.env.Informer(claimKind).GetIndexer().List() {
		claim := obj.(*corev1.PersistentVolumeClaim)
		if !s.its(set, claim) {
			continue
		}
		err := s.env.Client.Delete(ctx, claimKind, claim.Namespace, claim.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return s.statefulSet.Sync(ctx, key)
}

// byPrefix returns a StatefulSet controller that takes pods of other sets. Its Contract declares every pod adoptable,
// but the laws must report the controller nevertheless.
func byPrefix() build {
	b := sts(func(w *statefulset.Without) { w.Prefix = true })
	inner := b.make
	b.make = func() host.Controller {
		c := inner()
		c.Contract.Adoptable = func(_, _ runtime.Object) bool { return true }
		return c
	}
	return b
}

func sts(f func(w *statefulset.Without)) build {
	o := statefulset.Options{Era: statefulset.Current}
	f(&o.Without)
	return build{func() host.Controller { return statefulset.New(o) }, o.Without}
}
