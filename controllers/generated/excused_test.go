package generated_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrong are controllers of which no cause may say that upstream's own would do the same: each runs in a world in
// which what a cause is about has happened, and breaks a law of that cause there for a reason of its own.
var wrong = []struct {
	what    string
	subject *subject
	seed    uint64
	cause   func(w *world, b *law.Breach) bool
	near    func(w *world, b *law.Breach) bool        // a part of what the cause asks of a world
	change  func(obj runtime.Object) []runtime.Object // nil for one that deletes too much
}{
	{"asks for three pods more", &deployments, 612, shares, someResized, larger},
	{"makes each ReplicaSet twice", &deployments, 1894, recounted, someCountChanged, twiceNamed},
	{"makes pods of no revision", &statefulSets, 1325, restsOnGoing, someRevisionGoing, unlabelled},
	{"counts no fewer than two pods", &statefulSets, 483, goneAsOrphan, someGone, counted},
	{"deletes its other pods with one", &statefulSets, 1552, endedAsRead, someAdopted, nil},
	{"deletes its other pods with one", &replicationControllers, 259, expiredDeletions, someDeletionUnseen, nil},
	{"makes pods of no revision", &daemonSets, 2, hashEmptied, someHashEmptied, unlabelled},
	{"makes pods of no revision", &daemonSets, 49, hashEmptied, someHashEmptied, unlabelled},
	{"never makes the first pod", &statefulSets, 139, staleClaim, someClaimStale, notTheFirst},
	{"makes each slice twice", &endpoints, 260, crowded, many, twice},
	{"makes no slice", &endpoints, 260, crowded, many, noSlice},
}

// TestCausesExcuseNobodyElse holds the causes that look at a whole world, and not at the write that a verdict is
// about, to what they say: who is wrong for another reason is accused beside them.
func TestCausesExcuseNobodyElse(t *testing.T) {
	for _, c := range wrong {
		t.Run(c.subject.name+" "+c.what, func(t *testing.T) {
			s := *c.subject
			s.made = func(w *world) host.Controller { return changed(w.controller(s.name), c.change) }
			w, met := play(t, &s, c.seed, asked...), 0
			for _, b := range w.Judge.Breaches() {
				if b.Strength == law.Committed || !excusable(c.cause, w, &b) || !c.near(w, &b) {
					continue
				}
				if met++; !w.explained(&b) {
					return
				}
			}
			t.Errorf("world %d: none of %d breaches is told", c.seed, met)
		})
	}
}

// excusable reports whether a breach is of a law that the cause may excuse.
func excusable(when func(*world, *law.Breach) bool, w *world, b *law.Breach) bool {
	return slices.ContainsFunc(open, func(c *cause) bool {
		return c.controller == w.subject.name &&
			reflect.ValueOf(c.when).Pointer() == reflect.ValueOf(when).Pointer() &&
			slices.Contains(strings.Fields(c.laws), b.Law.Name)
	})
}

// someHashEmptied: a user has emptied the label of one of the set's revisions.
func someHashEmptied(w *world, b *law.Breach) bool {
	owner := w.ownerAt(b)
	return anyOf(w.commits(0, b.Record), func(_ int, r *sim.Record) bool {
		return r.Process == law.User && r.Object.Kind == "ControllerRevision" && r.Before != nil &&
			r.After != nil && controls(owner, r.Before) &&
			object(r.After).GetLabels()[appsv1.ControllerRevisionHashLabelKey] == ""
	})
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

// someCountChanged: a user has changed by which number the names of the Deployment's ReplicaSets are made.
func someCountChanged(w *world, b *law.Breach) bool {
	owner := w.ownerAt(b)
	return anyOf(w.commits(0, b.Record), func(_ int, c *sim.Record) bool { return w.changesCount(c, owner) })
}

// someRevisionGoing: a revision of the set's is being deleted.
func someRevisionGoing(w *world, b *law.Breach) bool {
	return w.goingRevision(b, func(*appsv1.ControllerRevision) bool { return true })
}

// someGone: a pod of the set's has gone and was shown last as nobody's.
func someGone(w *world, b *law.Breach) bool {
	return w.record(b.Record).Op == sim.Settled && w.goneUnshown(w.ownerAt(b), b.Record) > 0
}

// someAdopted: in the same sync a pod was adopted which had ended when it was read.
func someAdopted(w *world, b *law.Breach) bool {
	r := w.record(b.Record)
	return anyOf(w.commits(w.begun(b.Record), b.Record), func(_ int, c *sim.Record) bool {
		saw, _ := c.Saw.(*corev1.Pod)
		return c.Process == r.Process && saw != nil && ended(saw) && controls(types.UID(r.For.UID), c.After)
	})
}

// someDeletionUnseen: the controller has deleted a pod of the owner's more than five minutes ago, and no event has
// shown it.
func someDeletionUnseen(w *world, b *law.Breach) bool { return w.unseenDeletions(b) > 0 }

// someClaimStale: a claim of the set's belongs to another pod of the name.
func someClaimStale(w *world, b *law.Breach) bool {
	set, _ := w.about(b).(*appsv1.StatefulSet)
	all := w.storedAt(b.Record)
	return set != nil && slices.ContainsFunc([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, func(n int) bool {
		return isStale(all, set, n, w.Cluster.Process("garbagecollector") != nil)
	})
}

// many: more than a hundred pods have the labels that the Service selects.
func many(w *world, b *law.Breach) bool {
	all := w.storedAt(b.Record)
	svc, _ := all.with(w.ownerAt(b)).(*corev1.Service)
	return svc != nil && selected(all, svc) > 100
}

// selected is how many pods have the labels that a Service selects.
func selected(all storedAt, svc *corev1.Service) (pods int) {
	for _, o := range all {
		if o.ref.Kind == "Pod" && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(o.GetLabels())) {
			pods++
		}
	}
	return pods
}
