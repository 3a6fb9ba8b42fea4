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

	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// statefulSetMutants lack a guard of the StatefulSet controller.
var statefulSetMutants = []mutant{
	{"statefulset/any-name", "KIND-STS-1", "ADOPT-1",
		"adopts pods whatever their names are",
		sts(func(w *statefulset.Without) { w.Member = true })},
	{"statefulset/member-by-prefix", "KIND-STS-1", "ADOPT-1",
		"takes pods of a set whose name begins with its own for its pods, and tells so to whoever asks",
		byPrefix()},
	{"statefulset/two-of-a-number", "KIND-STS-1", "ADOPT-1",
		"takes web-01 for web-1, and has that number twice",
		sts(func(w *statefulset.Without) { w.Canonical = true })},
	{"statefulset/works-while-going", "ADOPT-3", "ADOPT-3",
		"makes pods for a set that is being deleted",
		sts(func(w *statefulset.Without) { w.Terminating, w.Ref.Deletion = true, true })},
	{"statefulset/deletes-by-name", "EXACT-4", "EXACT-4",
		"deletes the pod that has taken the name of the one it means",
		sts(func(w *statefulset.Without) { w.VictimUID = true })},
	{"statefulset/mends-by-name", "LAW-2", "LAW-2",
		"puts the labels of its pod on whatever pod has the name",
		sts(func(w *statefulset.Without) { w.Canonical, w.SamePod = true, true })},
	{"statefulset/status-by-name", "ADOPT-8", "ADOPT-8",
		"writes the status of a set that is gone to its successor",
		sts(func(w *statefulset.Without) { w.SameSet = true })},
	{"statefulset/remakes-the-held", "EXACT-7", "EXACT-7",
		"makes a pod that has ended again before it is gone, and tries so for as long as a finalizer holds it",
		sts(func(w *statefulset.Without) { w.Ended = true })},
	{"statefulset/rolls-at-once", "EXACT-11", "EXACT-11",
		"replaces pod after pod in a rolling update, and waits for none",
		sts(func(w *statefulset.Without) { w.RollAlone = true })},
	{"statefulset/rolls-on", "EXACT-11", "EXACT-11",
		"replaces the next pod in a rolling update before the one that it replaced is available",
		sts(func(w *statefulset.Without) { w.RollUnready = true })},
	{"statefulset/ignores-the-partition", "EXACT-11", "EXACT-11",
		"replaces pods that an update leaves alone",
		sts(func(w *statefulset.Without) { w.Partition = true })},
	{"statefulset/all-at-once", "EXACT-11", "EXACT-11",
		"makes and deletes the pods of an ordered set all at once",
		sts(func(w *statefulset.Without) { w.Order = true })},
	{"statefulset/never-the-same", "NOFIGHT-1", "NOFIGHT-1",
		"makes a new revision at every sync, since none ever equals one made before",
		sts(func(w *statefulset.Without) { w.Drift = true })},
	{"statefulset/no-other-name", "WRITE-8", "EXACT-7",
		"fails for ever when the name of a revision is taken by another",
		sts(func(w *statefulset.Without) { w.History.Collision = true })},
	{"statefulset/forgets-what-is-in-use", "LAW-2", "EXACT-9",
		"deletes revisions that its pods are at",
		sts(func(w *statefulset.Without) { w.History.Live = true })},
	{"statefulset/owns-claims-later", "GC-1", "LAW-1",
		"gives claims their owners when it sees them, and leaves them behind when it is deleted before",
		sts(func(w *statefulset.Without) { w.ClaimLater = true })},
	{"statefulset/deaf-to-claims", "NOFIGHT-3", "NOFIGHT-3",
		"waits for a claim to be gone, and is told by nobody that it is",
		sts(func(w *statefulset.Without) { w.ClaimEvents = true })},
	{"statefulset/waits-to-see-it-go", "WRITE-3", "EXACT-10",
		"gives the claims of a pod that is not wanted away when it sees it go, and misses one that goes at once",
		sts(func(w *statefulset.Without) { w.GoingSeen = true })},
	{"statefulset/mounts-what-is-going", "GC-1", "EXACT-9",
		"makes a pod although its claim is about to be collected with the pod's predecessor",
		sts(func(w *statefulset.Without) { w.StaleClaim = true })},
	{"statefulset/inherits-claims", "ADOPT-8", "LAW-2",
		"takes claims of an earlier set of its name over",
		sts(func(w *statefulset.Without) { w.Namesake, w.Strange = true, true })},
	{"statefulset/shares-claims", "LAW-2", "EXACT-7",
		"tries for ever to change the owners of a claim that somebody else controls",
		sts(func(w *statefulset.Without) { w.Strange = true })},
}

// sweepers are operators that do away with the claims of what they look after once it is
// going, and go by what they can: neither name nor label says whose a claim is.
var sweepers = []mutant{
	{"statefulset/sweeps-by-name", "ADOPT-8", "LAW-2",
		"deletes the claims of a set that is going by their names, whoever's they are by now",
		sweeper(func(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool {
			return strings.HasPrefix(claim.Name, set.Spec.VolumeClaimTemplates[0].Name+"-"+set.Name+"-")
		})},
	{"statefulset/sweeps-by-label", "ADOPT-8", "LAW-2",
		"deletes the claims of a set that is going by their labels, whoever's they are by now",
		sweeper(func(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool {
			return labels.SelectorFromSet(set.Spec.Selector.MatchLabels).Matches(labels.Set(claim.Labels))
		})},
}

var claimKind = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

// sweeper is a StatefulSet controller that deletes claims when its set is going.
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

// statefulSet is all that the host asks of the StatefulSet controller.
type statefulSet interface {
	host.Reconciler
	Forget(key string)
	Digest(h *sim.Hash)
}

// sweeping is a StatefulSet controller that deletes the claims of a set that is going.
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

// byPrefix is a StatefulSet controller whose declaration would take whatever it takes: the laws
// have to know by themselves whose a pod is.
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

// sts is a StatefulSet controller of today without what f sets.
func sts(f func(w *statefulset.Without)) build {
	o := statefulset.Options{Era: statefulset.Current}
	f(&o.Without)
	return build{func() host.Controller { return statefulset.New(o) }, o.Without}
}
