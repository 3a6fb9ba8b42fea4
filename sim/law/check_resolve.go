// Check of GC-6: owners that no informer showed, and owners that wait for each other.

package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// resolveAll checks GC-6. To break a cycle the collector removes blockOwnerDeletion, and nowhere else.
func resolveAll(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		j.unblocked(r)
		return
	}
	if !j.collecting() {
		return
	}
	j.eachDangling(func(o *Object, st refStates) {
		refs := o.Meta.GetOwnerReferences()
		for i := range refs {
			if st.solid+st.waiting == 0 && !j.survey().collector.gone[refs[i].UID] {
				j.Report(Informed, o.Ref.String()+" waits for "+refName(&refs[i])+
					", which no informer showed, to be resolved")
				return
			}
		}
	})
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if meta.Foreground(o.Meta) && j.deadlocked(o) {
				j.Report(Informed, o.Ref.String()+" waits for dependents that wait themselves")
			}
		}
	}
}

// unblocked reports that the collector made a reference non-blocking though no dependent of the object waits for
// its own: there is no cycle to break. It need not be proven that the object waits for itself (RULES K100). It is
// Committed if the collector had been shown otherwise, or was shown it meanwhile.
func (j *Judge) unblocked(r *sim.Record) {
	w := &j.write
	if !w.GC || w.Before == nil || w.After == nil || !unblocks(w.Before, w.After) {
		return
	}
	j.Ask()
	uid := w.Before.GetUID()
	if slices.ContainsFunc(j.state.Dependents(uid), func(d *Object) bool {
		return meta.Foreground(d.Meta) || meta.Orphaning(d.Meta) // of two deletions the second decides
	}) {
		return
	}
	s, k := Informed, w.process.work(r)
	for _, c := range w.process.caches {
		if k == nil || c.Changed > k.begun || slices.ContainsFunc(c.Entries, func(e view.Entry) bool {
			return meta.Foreground(e.Meta) && meta.RefTo(e.Meta, uid) != nil
		}) {
			s = Committed
		}
	}
	j.Report(s, "no longer blocks its owner, though nothing that depends on it waits")
}

// unblocks reports whether a write makes a blocking reference non-blocking.
func unblocks(before, after metav1.Object) bool {
	refs := before.GetOwnerReferences()
	return slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool {
		left := meta.RefTo(after, ref.UID)
		return meta.Blocks(&ref) && left != nil && !meta.Blocks(left)
	})
}

// deadlocked reports whether an owner waits for itself, through other owners that wait.
func (j *Judge) deadlocked(o *Object) bool {
	met := []*Object{o}
	for i := 0; i < len(met); i++ {
		uid := met[i].Meta.GetUID()
		for _, d := range j.state.Dependents(uid) {
			if !meta.Foreground(d.Meta) || !meta.Blocks(meta.RefTo(d.Meta, uid)) {
				continue
			}
			if d == o {
				return true
			}
			if !slices.Contains(met, d) {
				met = append(met, d)
			}
		}
	}
	return false
}
