package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// wants contains the number of dependents that an owner wants, for each tried combination of field values.
type wants struct {
	paths [][]string
	by    map[string]int
}

func (w *wants) key(owner map[string]any) string {
	var b strings.Builder
	for _, path := range w.paths {
		v, _, _ := unstructured.NestedFieldNoCopy(owner, path...)
		fmt.Fprintf(&b, "%v\x00", v)
	}
	return b.String()
}

// of returns the number of dependents that an owner wants, or -1 if the owner's field values were not tried.
func (w *wants) of(owner runtime.Object) int {
	if n, ok := w.by[w.key(object(owner))]; ok {
		return n
	}
	return -1
}

// want finds how many dependents an owner wants, by its field values: the number after an owner was created with these
// values. The number is unknown if an owner that was edited to these values has a different number.
func (f *found) want(s *operator) error {
	if len(f.dependents) == 0 {
		return nil
	}
	if s.lasts > 0 {
		f.doubt("how many dependents an owner wants: that depends on the time")
		return nil
	}
	if slices.ContainsFunc(f.dependents, func(d manifest) bool { return d.GroupVersionKind() == s.owner.GroupVersionKind() }) {
		f.doubt("how many dependents an owner wants: its dependents are owners too, and may want another number")
		return nil
	}
	w := &wants{by: map[string]int{}}
	var tried []*edit
	if f.scale != nil {
		tried = append(tried, f.scale)
		if n, ok := f.less(); ok {
			tried = append(tried, &edit{path: f.scale.path, from: f.scale.from, to: n, name: f.scale.name, was: f.scale.was, has: -1})
		}
	}
	if f.change != nil {
		tried = append(tried, f.change)
	}
	differ := slices.Concat(tried, f.more, f.removes)
	if f.breaks != nil {
		differ = append(differ, f.breaks)
	}
	for _, e := range differ {
		for _, path := range e.paths() {
			if !slices.ContainsFunc(w.paths, func(p []string) bool { return slices.Equal(p, path) }) {
				w.paths = append(w.paths, path)
			}
		}
	}
	if err := f.count(s, w, nil); err != nil {
		return err
	}
	for _, e := range tried {
		if e.tells && e.back != e.had {
			f.doubt(fmt.Sprintf("how many dependents an owner wants: it keeps %d in place of %d when %s is undone, and reports that",
				e.back, e.had, e.name))
			return nil
		}
		if err := f.count(s, w, e); err != nil {
			return err
		}
	}
	if w.by != nil {
		f.more = slices.DeleteFunc(f.more, func(e *edit) bool { return f.keepsHistory(s, w, e) })
		f.removes = slices.DeleteFunc(f.removes, func(e *edit) bool {
			return !(f.keeps != nil && f.keeps.edit == e) && f.keepsHistory(s, w, e)
		})
	}
	has, beside, other := f.active(s, f.dependents), f.active(s, f.pair), f.active(s, f.seconds)
	if f.second.Unstructured != nil && (has != beside || has != other) {
		f.doubt(fmt.Sprintf("how many dependents an owner wants: the sample alone has %d, beside a second "+
			"one like it %d, and that one %d", has, beside, other))
		return nil
	}
	if len(w.by) > 0 {
		f.wants = w
	}
	return nil
}

// keepsHistory counts the dependents of an owner that is created with an edit. It reports whether the number depends on
// the owner's history: an edited and a created owner have different numbers, or undoing the edit does not restore the
// number. Then no number is expected.
func (f *found) keepsHistory(s *operator, w *wants, e *edit) bool {
	one := &wants{paths: w.paths, by: map[string]int{}}
	unknown := len(f.unknown)
	if err := f.count(s, one, e); err != nil {
		return true
	}
	f.unknown = f.unknown[:unknown]
	if one.by == nil || e.back != e.had {
		f.history = append(f.history, e)
		return true
	}
	maps.Copy(w.by, one.by)
	return false
}

// keepers returns the edits and the removals in f.history.
func (f *found) keepers() (edits, removals []*edit) {
	for _, e := range f.history {
		if e.removes() {
			removals = append(removals, e)
		} else {
			edits = append(edits, e)
		}
	}
	return edits, removals
}

// count runs a world in which the sample is created with the edit e, or unchanged if e is nil. It stores the number of
// the sample's active dependents in w. If this number differs from the number after the edit, it sets w.by to nil.
func (f *found) count(s *operator, w *wants, e *edit) error {
	if w.by == nil {
		return nil // an earlier call found that the number is unknown
	}
	made := f.base
	if e != nil {
		made = e.made
	}
	if made == nil {
		owner := s.edited(e, e.to)
		r, err := s.run(owner)
		if err != nil {
			return nil // the server does not accept the value
		}
		made = f.end(r, owner)
		r.Stop()
	}
	n := f.active(s, made.dependents)
	if !made.settled || made.stored == nil {
		return nil
	}
	if e != nil && e.has >= 0 && e.has != n {
		f.doubt(fmt.Sprintf("how many dependents an owner wants: %d after %s, but %d if it is created with this value", e.has,
			e.text(), n))
		w.by = nil
		return nil
	}
	w.by[w.key(object(made.stored))] = n
	return nil
}

// active returns the number of dependents that count (see counts).
func (f *found) active(s *operator, dependents []manifest) (n int) {
	for _, d := range dependents {
		if f.counts(s, d.Unstructured) {
			n++
		}
	}
	return n
}

// surge sets f.surges if the sample had more active dependents since the last user action than before and after it.
func (f *found) surge(r *quiet) {
	owner, is := r.stored(r.s.owner).(metav1.Object)
	if !is {
		return
	}
	live, had, most := map[string]bool{}, 0, 0
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		if i == r.began {
			had, most = len(live), len(live)
		}
		if rec.Op != sim.Commit || rec.Subresource != "" {
			continue
		}
		m, is := rec.After.(metav1.Object)
		if is && m.GetDeletionTimestamp() == nil && metav1.IsControlledBy(m, owner) && slices.Contains(f.owns, r.kindOf(rec)) &&
			f.counts(r.s, rec.After.(runtime.Object)) {
			live[rec.Object.UID] = true
		} else {
			delete(live, rec.Object.UID)
		}
		most = max(most, len(live))
	}
	f.surges = f.surges || most > max(had, len(live))
}

// neverSurges reports whether an owner may not have more dependents than it wants for a moment: no quiet run has
// more, and the dependents do work. Only those with fixed names may be passive, such as ConfigMaps: one too many of
// these does no harm.
func (f *found) neverSurges(s *operator) bool {
	return !f.surges && !slices.ContainsFunc(f.dependents, func(d manifest) bool {
		return d.GetKind() != "Pod" && d.GetKind() != "Job" && !s.custom(d.GroupVersionKind()) && !slices.Contains(f.fixed, d.GetKind())
	})
}

// counts reports whether a dependent counts as wanted. Revisions, and kinds whose events enqueue nothing, do not count.
// A dependent with 0 replicas counts only if the sample's dependents are created with 0 replicas.
func (f *found) counts(s *operator, dependent runtime.Object) bool {
	gvk := dependent.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvk = s.server.KindOf(dependent).GVK
	}
	return !slices.Contains(f.asleep, gvk) && gvk.Kind != "ControllerRevision" &&
		(!scaledToZero(dependent, gvk.Kind) || slices.ContainsFunc(f.dependents, func(d manifest) bool {
			return d.GroupVersionKind() == gvk && scaledToZero(d.Unstructured, gvk.Kind)
		}))
}
