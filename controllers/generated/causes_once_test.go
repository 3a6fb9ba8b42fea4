package generated_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// The annotations by which a ReplicaSet says for which size of its Deployment it was scaled.
const (
	desiredPods = "deployment.kubernetes.io/desired-replicas"
	mostPods    = "deployment.kubernetes.io/max-replicas"
)

// shares: in the same sync a ReplicaSet has been written before that still said another size of the Deployment, and
// what this one gets is its part by the most pods that there could be before, or by the Deployment's status where it
// does not say that.
func shares(w *world, b *law.Breach) bool {
	d, was, rs := w.scales(b)
	if d == nil || rs == nil || !someResized(w, b) {
		return false
	}
	before, most := annotated(was, mostPods), annotated(rs, mostPods)
	if before <= 0 {
		before = int(d.Status.Replicas)
	}
	return before > 0 && *rs.Spec.Replicas ==
		int32(math.Round(float64(int(*was.Spec.Replicas)*most)/float64(before)))
}

// scales is the Deployment of a verdict, and the ReplicaSet of its that is scaled, before and after that.
func (w *world) scales(b *law.Breach) (d *appsv1.Deployment, was, is *appsv1.ReplicaSet) {
	r := w.record(b.Record)
	d, _ = r.SawFor.(*appsv1.Deployment)
	was, _ = r.Before.(*appsv1.ReplicaSet)
	if is, _ = r.After.(*appsv1.ReplicaSet); was == nil {
		return d, nil, nil
	}
	return d, was, is
}

// annotated is a number in an annotation; -1 for none.
func annotated(rs *appsv1.ReplicaSet, annotation string) int {
	n, err := strconv.ParseUint(rs.Annotations[annotation], 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// recounted: the ReplicaSet beside which another of its template is made had not been shown when the sync began; since
// it was made a user has changed by which number the names are made, and none has been made by that yet.
func recounted(w *world, b *law.Breach) bool {
	r := w.record(b.Record)
	other := w.beside(b)
	if other == "" || r.Before != nil || anyOf(w.shown(0, w.begun(b.Record)), func(_ int, d *sim.Record) bool {
		return is(d.After, other)
	}) {
		return false
	}
	return anyOf(w.commits(w.madeAt(other), b.Record), func(i int, c *sim.Record) bool {
		return w.changesCount(c, types.UID(r.For.UID)) &&
			!anyOf(w.commits(i, b.Record), func(_ int, c *sim.Record) bool {
				return c.Process == w.subject.name && c.Object.Kind == "ReplicaSet" && c.Before == nil &&
					controls(types.UID(r.For.UID), c.After)
			})
	})
}

// changesCount: a user changes by which number the names of a Deployment's ReplicaSets are made.
func (w *world) changesCount(c *sim.Record, owner types.UID) bool {
	was, _ := c.Before.(*appsv1.Deployment)
	now, _ := c.After.(*appsv1.Deployment)
	count := func(n *int32) int32 {
		if n == nil {
			return 0
		}
		return *n
	}
	return c.Process == law.User && was != nil && now != nil && now.UID == owner &&
		count(was.Status.CollisionCount) != count(now.Status.CollisionCount)
}

// beside is the object that a verdict names as another of the same identity.
func (w *world) beside(b *law.Breach) types.UID {
	_, text, _ := strings.Cut(b.Text, ", as ")
	if o := w.storedAt(b.Record).named(strings.TrimSuffix(text, " is")); o != nil {
		return o.GetUID()
	}
	return ""
}

// freedWhileAdopting: what is deleted was the owner's by all that had been shown when the sync began, in which another
// pod was adopted before; that a user has taken it away was shown after that.
func freedWhileAdopting(w *world, b *law.Breach) bool {
	r, began := w.record(b.Record), w.begun(b.Record)
	uid, owner := object(r.Before).GetUID(), types.UID(r.For.UID)
	mine, freed := false, false
	for i, d := range w.records(0, b.Record) {
		if d.Op != sim.Delivery || d.Process != r.Process || !is(d.After, uid) {
			continue
		}
		if i < began {
			mine = controls(owner, d.After)
		} else {
			freed = freed || !controls(owner, d.After)
		}
	}
	return strings.HasPrefix(r.Verb, "delete") && mine && freed &&
		anyOf(w.commits(began, b.Record), func(_ int, c *sim.Record) bool {
			return c.Process == r.Process && c.Object.Kind == "Pod" && !controls(owner, c.Before) &&
				controls(owner, c.After)
		})
}

// endedAsRead: as many pods as are too few have been deleted in the sync that had ended by all that had been shown when
// it began, and were adopted in it; a user has made them run again since. One is what the verdict is about.
func endedAsRead(w *world, b *law.Breach) bool {
	r, began, n := w.record(b.Record), w.begun(b.Record), 0
	left, wants := shortage(b)
	for _, c := range w.commits(began, b.Record+1) {
		if c.Process == r.Process && c.Object.Kind == "Pod" && strings.HasPrefix(c.Verb, "delete") &&
			!going(object(c.Before)) && w.ranAgain(object(c.Before).GetUID(), b.Record) {
			n++
		}
	}
	return w.ranAgain(object(r.Before).GetUID(), b.Record) && n >= wants-left
}

// ranAgain: a pod had ended by all that had been shown when a sync began, and runs by what the answer to its adoption
// in that said.
func (w *world) ranAgain(uid types.UID, record int) bool {
	r, began, last := w.record(record), w.begun(record), (*corev1.Pod)(nil)
	for _, d := range w.shown(0, began) {
		if is(d.After, uid) {
			last, _ = d.After.(*corev1.Pod)
		}
	}
	return last != nil && ended(last) && anyOf(w.commits(began, record), func(_ int, c *sim.Record) bool {
		owner := types.UID(r.For.UID)
		return is(c.After, uid) && c.Process == r.Process && !controls(owner, c.Before) && controls(owner, c.After) &&
			!ended(c.After.(*corev1.Pod))
	})
}

// shortage is how many pods a verdict says that there are left, and are wanted.
func shortage(b *law.Breach) (left, wants int) {
	var owner string
	if n, _ := fmt.Sscanf(b.Text, "leaves %s with %d, it wants %d", &owner, &left, &wants); n != 3 {
		return 0, math.MaxInt
	}
	return left, wants
}

// expiredDeletions: the controller has deleted as many pods of the owner as it has too few now, more than five minutes
// ago each, and no event has shown it.
func expiredDeletions(w *world, b *law.Breach) bool {
	left, wants := shortage(b)
	return w.unseenDeletions(b) >= wants-left
}

func (w *world) unseenDeletions(b *law.Breach) (n int) {
	owner := w.ownerAt(b)
	for i, r := range w.commits(0, b.Record) {
		if w.expects(r, owner) && r.Before != nil && w.record(b.Record).At-r.At >= 5*time.Minute &&
			!w.observed(i, b.Record, owner) {
			n++
		}
	}
	return n
}

// someResized: a ReplicaSet of the Deployment's that said another size of it has been written in the same sync before.
func someResized(w *world, b *law.Breach) bool {
	d, was, _ := w.scales(b)
	return d != nil && was != nil && d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType &&
		anyOf(w.commits(w.begun(b.Record), b.Record), func(_ int, c *sim.Record) bool {
			rs, _ := c.Before.(*appsv1.ReplicaSet)
			return rs != nil && c.Process == w.subject.name && controls(d.UID, rs) && *rs.Spec.Replicas > 0 &&
				annotated(rs, desiredPods) >= 0 && annotated(rs, desiredPods) != int(*d.Spec.Replicas)
		})
}
