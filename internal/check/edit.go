package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// edit is a change of one field of the sample that the controller answers.
type edit struct {
	path     []string
	from, to any
	had, has int // how many dependents there were before, and are then
}

// mostEdits is how many fields of a spec are tried.
const mostEdits = 16

// edits looks which fields of the sample the controller follows, and how many dependents
// an owner has by them.
func (f *found) edits(s *subject) error {
	first, err := s.run(s.owner)
	if err != nil {
		return err
	}
	stored := shown(first.stored(s.owner), s.owner.GroupVersionKind())
	idle := ""
	if s.lasts > 0 { // what it does by the clock is no answer to an edit
		first.began = first.World.History.Len()
		first.settle()
		idle = first.deeds()
	}
	first.Stop()
	fields := leaves(stored.Object, "spec")
	for i, path := range fields {
		if i == mostEdits || f.scale != nil && f.change != nil {
			break
		}
		if s.Hurry != nil && s.Hurry() {
			f.unknown = append(f.unknown, fmt.Sprintf("which fields it follows: no time was left after %d of %d", i,
				min(len(fields), mostEdits)))
			break
		}
		if e, err := f.tryEdit(s, stored, path, idle); err != nil {
			return err
		} else if e == nil {
			continue
		} else if _, number := e.from.(int64); f.scale == nil && number && e.has != e.had {
			f.scale = e
		} else if f.change == nil && e.has == e.had {
			f.change = e
		}
	}
	return f.want(s)
}

// tryEdit changes a field of the sample at rest; nil where it is refused, or nothing comes of it: the controller then
// does what it does without an edit.
func (f *found) tryEdit(s *subject, stored manifest, path []string, idle string) (*edit, error) {
	from, _, _ := unstructured.NestedFieldNoCopy(stored.Object, path...)
	e := &edit{path: path, from: from, to: another(from)}
	r, err := s.run(s.owner)
	if err != nil {
		return nil, err
	}
	defer r.Stop()
	e.had = f.active(s, r.controlled(s.owner, f.owns))
	if err := r.merge(s.owner, e.patch(e.to)); err != nil || !r.settled {
		return nil, nil // no value that the server takes, or a world that says nothing
	}
	e.has = f.active(s, r.controlled(s.owner, f.owns))
	if s.lasts > 0 {
		e.has = e.had // how many there are goes by the clock
	}
	if r.deeds() == idle {
		return nil, nil
	}
	return e, nil
}

// deeds are the writes of the controller since the user has last done something, but for those to the sample's kind,
// without names.
func (r *quiet) deeds() (text string) {
	for _, rec := range r.writes() {
		if rec.Object.Kind != r.s.owner.GetKind() {
			text += rec.Verb + " " + rec.Object.Kind + "/" + rec.Subresource + "\n"
		}
	}
	return text
}

// another is another value of a field.
func another(v any) any {
	switch v := v.(type) {
	case int64:
		return v + 1
	case bool:
		return !v
	}
	return fmt.Sprint(v) + "x"
}

// leaves are the paths of the fields below one that hold a text, a number or a truth
// value, in their order. Lists are left out: a merge patch replaces them whole.
func leaves(object map[string]any, path ...string) (list [][]string) {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, leaves(object, append(slices.Clone(path), key)...)...)
		}
	case string, int64, bool:
		list = append(list, path)
	}
	return list
}

// patch is a merge patch that gives the field a value.
func (e *edit) patch(value any) map[string]any {
	patch := map[string]any{}
	set(patch, e.path, value)
	return patch
}

// set gives a field a value that a field of that path has had.
func set(object map[string]any, path []string, value any) {
	if err := unstructured.SetNestedField(object, value, path...); err != nil {
		panic("check: " + err.Error())
	}
}

// less is one less than the sample asks for, where that is a number that was tried.
func (f *found) less() (int64, bool) {
	if f.scale == nil {
		return 0, false
	}
	n := f.scale.from.(int64) - 1
	return n, n >= 0
}

// String tells it: "spec.replicas: 2 -> 3, with 3 dependents".
func (e *edit) String() string {
	text := fmt.Sprintf("%s: %v -> %v", strings.Join(e.path, "."), e.from, e.to)
	if e.has != e.had {
		text += fmt.Sprintf(", with %d dependents in place of %d", e.has, e.had)
	}
	return text
}

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
			tried = append(tried, &edit{path: f.scale.path, from: f.scale.from, to: n, has: -1})
		}
	}
	if f.change != nil {
		tried = append(tried, f.change)
	}
	for _, e := range tried {
		if w.paths = append(w.paths, e.path); len(w.paths) > 1 && slices.Equal(w.paths[len(w.paths)-2], e.path) {
			w.paths = w.paths[:len(w.paths)-1]
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
	if has, other := f.active(s, f.dependents), f.active(s, f.seconds); has != other && f.second.Unstructured != nil {
		f.unknown = append(f.unknown, fmt.Sprintf("how many dependents an owner wants: a second one like the sample "+
			"has %d, the sample %d", other, has))
		return nil
	}
	if len(w.by) > 0 {
		f.wants = w
	}
	return nil
}

// count takes in how many dependents the sample has that was made with an edit.
func (f *found) count(s *subject, w *wants, e *edit) error {
	if w.by == nil {
		return nil // it is known already that nobody can say
	}
	owner := manifest{s.owner.DeepCopy()}
	if e != nil {
		set(owner.Object, e.path, e.to)
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
