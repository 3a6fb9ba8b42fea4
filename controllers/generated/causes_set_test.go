package generated_test

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// goneAsOrphan: as many pods as a set counts too many were its own when they went, in a gap of the watch, and were
// shown last as nobody's, so that it was not synced for that; nor was it since.
func goneAsOrphan(w *world, b *law.Breach) bool {
	var what, set string
	var counts, there int
	if n, _ := fmt.Sscanf(b.Text, "%s of %s is %d, there are %d", &what, &set, &counts, &there); n != 4 {
		return false
	}
	set = strings.TrimSuffix(set, ",")
	owner := w.storedAt(b.Record).named(set)
	return owner != nil && w.goneUnshown(owner.GetUID(), b.Record) >= counts-there
}

// goneUnshown is how many pods were a set's when they went and were shown last as nobody's, and it was not synced
// since.
func (w *world) goneUnshown(owner types.UID, until int) (n int) {
	for i, d := range w.shown(0, until) {
		if d.Object.Kind != "Pod" || d.After != nil || d.Before == nil || controls(owner, d.Before) {
			continue
		}
		uid := object(d.Before).GetUID()
		owned := anyOf(w.commits(0, i), func(_ int, c *sim.Record) bool {
			return is(c.Before, uid) && c.After == nil && controls(owner, c.Before)
		})
		synced := anyOf(w.records(i, until), func(_ int, s *sim.Record) bool {
			return s.Op == sim.SyncStart && s.Process == w.subject.name && s.For.UID == string(owner)
		})
		if owned && !synced {
			n++
		}
	}
	return n
}

// restsOnGoing: the revision of which it is said that it is not there is, as the set's own, but is being deleted, and
// held by somebody.
func restsOnGoing(w *world, b *law.Breach) bool {
	_, name, _ := strings.Cut(b.Text, "there is no revision ")
	return w.goingRevision(b, func(rev *appsv1.ControllerRevision) bool { return name == fmt.Sprintf("%q", rev.Name) })
}

// goingRevision: the set has such a revision that is being deleted.
func (w *world) goingRevision(b *law.Breach, is func(*appsv1.ControllerRevision) bool) bool {
	owner := w.ownerAt(b)
	return w.storedAt(b.Record).find(func(o stored) bool {
		rev, _ := o.Object.(*appsv1.ControllerRevision)
		return rev != nil && controls(owner, rev) && going(rev) && len(rev.Finalizers) > 0 && is(rev)
	}) != nil
}
