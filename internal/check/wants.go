package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// wants is how many dependents an owner has at rest, by the fields that were tried.
type wants struct {
	paths [][]string
	by    map[string]int
}

// key is what an owner says in those fields.
func (w *wants) key(owner map[string]any) string {
	var b strings.Builder
	for _, path := range w.paths {
		v, _, _ := unstructured.NestedFieldNoCopy(owner, path...)
		fmt.Fprintf(&b, "%v\x00", v)
	}
	return b.String()
}

// of is how many an owner wants; -1 for one that was not tried.
func (w *wants) of(owner runtime.Object) int {
	if n, ok := w.by[w.key(object(owner))]; ok {
		return n
	}
	return -1
}

// want finds how many dependents an owner wants: as many as one has that was made as it
// is. Where one that was edited into the same has another number, nobody can say.
func (f *found) want(s *subject) error {
	if len(f.dependents) == 0 {
		return nil
	}
	if s.lasts > 0 {
		f.unknown = append(f.unknown, "how many dependents an owner wants: that goes by the clock")
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
	for _, e := range slices.Concat(tried, f.more, f.removes) {
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
		if err := f.count(s, w, e); err != nil {
			return err
		}
	}
	if w.by != nil {
		f.more = slices.DeleteFunc(f.more, func(e *edit) bool { return f.keepsHistory(s, w, e) })
		f.removes = slices.DeleteFunc(f.removes, func(e *edit) bool { return f.keepsHistory(s, w, e) })
	}
	has, beside, other := f.active(s, f.dependents), f.active(s, f.pair), f.active(s, f.seconds)
	if f.second.Unstructured != nil && (has != beside || has != other) {
		f.unknown = append(f.unknown, fmt.Sprintf("how many dependents an owner wants: the sample alone has %d, beside a second "+
			"one like it %d, and that one %d", has, beside, other))
		return nil
	}
	if len(w.by) > 0 {
		f.wants = w
	}
	return nil
}

// keepsHistory counts as count does. It reports whether an owner that was edited has another number of dependents than one
// that was created so, or when the edit is taken back: the number depends on its history, and no case expects one.
func (f *found) keepsHistory(s *subject, w *wants, e *edit) bool {
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

// count takes in how many dependents the sample has that was made with an edit.
func (f *found) count(s *subject, w *wants, e *edit) error {
	if w.by == nil {
		return nil // it is known already that nobody can say
	}
	owner := manifest{s.owner.DeepCopy()}
	if e != nil {
		e.set(owner.Object, e.to)
	}
	r, err := s.run(owner)
	if err != nil {
		return nil // a value that the server does not take
	}
	defer r.Stop()
	n := f.active(s, r.controlled(owner, f.owns))
	if !r.settled || r.stored(owner) == nil {
		return nil
	}
	if e != nil && e.has >= 0 && e.has != n {
		f.unknown = append(f.unknown,
			fmt.Sprintf("how many dependents an owner wants: %s, but %d in one made so", e, n))
		w.by = nil
		return nil
	}
	w.by[w.key(object(r.stored(owner)))] = n
	return nil
}

// beside looks at a second owner: the sample under another name. Where the sample's spec names its dependents, so that the
// two want the same ones, the second owner's spec names others.
func (f *found) beside(s *subject) error {
	same := s.owner.renamed(s.owner.GetName() + "-second")
	known := f.unknown
	if f.besides(s, same) || len(f.dependents) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, d := range f.dependents {
		names[d.GetName()] = true
	}
	apart := manifest{same.DeepCopy()}
	if spec, ok := apart.Object["spec"].(map[string]any); ok {
		apart.Object["spec"] = renames(spec, names, "-second")
	}
	if apart.text() == same.text() {
		return nil
	}
	f.unknown = known
	if !f.besides(s, apart) {
		f.unknown = known
		f.besides(s, same)
	}
	return nil
}

// differs looks in which fields no two owners have the same value, and makes an invariant of it.
func (f *found) differs(s *subject) (err error) {
	if f.second.Unstructured == nil || s.lasts > 0 || s.Hurry != nil && s.Hurry() ||
		slices.ContainsFunc(s.Invariants, func(v *law.Invariant) bool { return v.ID == differentValues }) {
		return nil
	}
	if f.distinct, err = s.distinctValues(f.second, f.owns); len(f.distinct) > 0 {
		s.Invariants = append(slices.Clone(s.Invariants), differ(s.owner, f.second, f.owns, f.distinct))
	}
	return err
}

// besides looks at a second owner. It reports whether there can be one, and each has as many dependents as the sample alone.
func (f *found) besides(s *subject, second manifest) bool {
	f.second, f.pair, f.seconds = manifest{}, nil, nil
	r, err := s.run(s.owner, second)
	if err != nil {
		f.unknown = append(f.unknown, "a second owner: "+err.Error())
		return false
	}
	defer r.Stop()
	f.second, f.pair, f.seconds = second, r.controlled(s.owner, f.owns), r.controlled(second, f.owns)
	alone := f.active(s, f.dependents)
	lacks := f.active(s, f.pair) < alone || f.active(s, f.seconds) < alone
	waits := !r.settled && !r.writesOn()
	if waits {
		f.unknown = append(f.unknown, "a second owner: it and the sample wait for each other's dependents")
		f.second, f.pair, f.seconds = manifest{}, nil, nil
	}
	return !lacks && !waits
}

// shares finds objects with plain references that all owners have together: beside a second owner the controller creates
// no more of their kind than for the sample alone. No owner can control them, so no law asks for a ControllerRef.
func (f *found) shares(s *subject) error {
	if len(f.plain) == 0 {
		return nil
	}
	r, err := s.run(s.owner, s.owner.renamed(s.owner.GetName()+"-second"))
	if err != nil {
		return s.over() // the server refuses a second owner
	}
	defer r.Stop()
	for i := range f.creates {
		c := &f.creates[i]
		all := ofKind(f.plain, c.kind)
		if c.how != refers || !r.settled || len(r.uncontrolled(c.kind)) > len(all) {
			continue
		}
		c.how, f.shared = sharing, append(f.shared, all...)
		if !slices.Contains(f.creates, creation{c.kind, controls}) && !slices.Contains(f.creates, creation{c.kind, none}) {
			f.owns = slices.DeleteFunc(f.owns, func(gvk schema.GroupVersionKind) bool { return gvk == c.kind })
		}
	}
	return nil
}

func ofKind(all []sim.Ref, kind schema.GroupVersionKind) (list []sim.Ref) {
	for _, o := range all {
		if o.Kind == kind.Kind && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}

// uncontrolled are the objects of a kind that the controller has created without a ControllerRef.
func (r *quiet) uncontrolled(kind schema.GroupVersionKind) (list []sim.Ref) {
	for _, rec := range r.writes() {
		if m, is := rec.After.(metav1.Object); is && rec.Before == nil && r.kindOf(rec) == kind && metav1.GetControllerOf(m) == nil {
			list = append(list, rec.Object)
		}
	}
	return list
}
