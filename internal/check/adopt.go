package check

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// selector is by what a controller adopts, as far as quiet runs show it.
type selector struct {
	field  bool // by spec.selector of the owner
	labels []label
}

// label is one that an object must have to be adopted.
type label struct {
	key   string
	path  []string // of the owner's field that says its value; nil for a value that all owners have
	value string
}

// stray is the name of what nobody owns yet.
const stray = "threelaws-stray"

// adoption looks whether copies of its dependents that nobody owns are adopted, and by what.
// Where that goes for some kinds and not for others, more than labels counts.
func (f *found) adoption(s *subject) error {
	var adopted, left []manifest
	for _, d := range f.each() {
		c := d.copied(stray)
		is, why := s.adopts(c)
		switch {
		case why != "":
			f.unknown = append(f.unknown, "whether it adopts a "+d.GetKind()+": "+why)
		case is:
			adopted = append(adopted, c)
		default:
			left = append(left, c)
		}
	}
	if f.adopts = len(adopted) > 0; f.adopts {
		if len(left) == 0 {
			if f.selector = f.specSelector(s); f.selector == nil {
				f.selector = f.labelsOf(s, adopted[0])
			}
		}
		if f.selector == nil {
			f.unknown = append(f.unknown, "by what it adopts a "+adopted[0].GetKind())
		}
	}
	return f.letting(s)
}

// fits reports whether a selector selects all dependents of both owners: one that does not
// is not the one that the controller goes by.
func (f *found) fits(s *subject, sel *selector) bool {
	r, err := s.run(f.both(s)...)
	if err != nil {
		return false
	}
	defer r.Stop()
	for _, owner := range f.both(s) {
		selects := sel.of(r.stored(owner))
		for _, d := range r.controlled(owner, f.owns) {
			if selects == nil || !selects.Matches(labels.Set(d.GetLabels())) {
				return false
			}
		}
	}
	return true
}

// each is the first dependent of each kind.
func (f *found) each() (list []manifest) {
	for _, d := range f.dependents {
		if !slices.ContainsFunc(list, func(o manifest) bool { return o.GroupVersionKind() == d.GroupVersionKind() }) {
			list = append(list, d)
		}
	}
	return list
}

// adopts reports whether an object without an owner is made the sample's.
func (s *subject) adopts(orphan manifest) (adopted bool, why string) {
	r, err := s.run(orphan, s.owner)
	if err != nil {
		return false, err.Error()
	}
	defer r.Stop()
	for _, rec := range r.writes() {
		if after, ok := rec.After.(metav1.Object); ok && rec.Object.Name == orphan.GetName() &&
			rec.Object.Kind == orphan.GetKind() && metav1.GetControllerOf(after) != nil {
			return true, ""
		}
	}
	return false, ""
}

// specSelector is the owners' own selector, if it is what the controller goes by.
func (f *found) specSelector(s *subject) *selector {
	if sel := (&selector{field: true}); f.fits(s, sel) {
		return sel
	}
	return nil
}

// selects reads spec.selector, as a selector or as a map of labels; nil for none.
func selects(owner map[string]any) labels.Selector {
	field, ok, _ := unstructured.NestedMap(owner, "spec", "selector")
	if !ok || len(field) == 0 {
		return nil
	}
	plain, _, err := unstructured.NestedStringMap(owner, "spec", "selector")
	if err == nil {
		return labels.SelectorFromSet(plain)
	}
	var ls metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(field, &ls) != nil {
		return nil
	}
	sel, err := metav1.LabelSelectorAsSelector(&ls)
	if err != nil || sel.Empty() {
		return nil
	}
	return sel
}

// labelsOf finds the labels without which a copy is not adopted, and where owners say
// what they are to be; nil where there are none.
func (f *found) labelsOf(s *subject, copy manifest) *selector {
	sel := &selector{}
	for _, key := range slices.Sorted(maps.Keys(copy.GetLabels())) {
		less := maps.Clone(copy.GetLabels())
		delete(less, key)
		without := copy.copied(stray)
		without.SetLabels(less)
		if adopted, why := s.adopts(without); why != "" || adopted {
			continue
		}
		sel.labels = append(sel.labels, f.source(s, key, copy.GetLabels()[key]))
	}
	if len(sel.labels) == 0 || !f.fits(s, sel) {
		return nil
	}
	return sel
}

// source finds the field that says what a label is to be: it must say so of both owners.
func (f *found) source(s *subject, key, value string) label {
	paths := [][]string{{"metadata", "name"}}
	for _, e := range leaves(s.owner.Object, nil, "spec") {
		paths = append(paths, e.path)
	}
	for _, path := range paths {
		if v, _, err := unstructured.NestedString(s.owner.Object, path...); err != nil || v != value {
			continue
		}
		if v, _, _ := unstructured.NestedString(f.second.Object, path...); len(f.seconds) == 0 ||
			v == f.seconds[0].GetLabels()[key] {
			return label{key: key, path: path}
		}
	}
	return label{key: key, value: value}
}

// of is what an owner selects.
func (sel *selector) of(owner runtime.Object) labels.Selector {
	fields := object(owner)
	if sel.field {
		return selects(fields)
	}
	set := labels.Set{}
	for _, l := range sel.labels {
		set[l.key] = l.value
		if l.path != nil {
			set[l.key], _, _ = unstructured.NestedString(fields, l.path...)
		}
	}
	return labels.SelectorFromSet(set)
}

// object is a stored object's fields.
func object(obj runtime.Object) map[string]any {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object
	}
	return shown(obj, obj.GetObjectKind().GroupVersionKind()).Object
}

// String tells it: "what has the labels app=web, widget=(metadata.name)".
func (sel *selector) String() string {
	if sel.field {
		return "what spec.selector selects"
	}
	var parts []string
	for _, l := range sel.labels {
		if l.path != nil {
			l.value = "(" + strings.Join(l.path, ".") + ")"
		}
		parts = append(parts, l.key+"="+l.value)
	}
	return "what has the labels " + strings.Join(parts, ", ")
}

// letting looks whether a dependent is let go when its labels are others.
func (f *found) letting(s *subject) error {
	if len(f.dependents) == 0 || len(f.dependents[0].GetLabels()) == 0 {
		return nil
	}
	r, err := s.run(s.owner)
	if err != nil {
		return err
	}
	defer r.Stop()
	d := f.dependents[0]
	if err := r.merge(d, map[string]any{"metadata": map[string]any{"labels": others(d)}}); err != nil {
		return nil // it is not for the user to relabel
	}
	now := r.stored(d)
	f.releases = now != nil && metav1.GetControllerOf(now.(metav1.Object)) == nil
	return nil
}

// other is a label that nobody selects.
const other = "threelaws-other"

// others are other labels than an object has.
func others(m manifest) map[string]any {
	set := map[string]any{}
	for key := range m.GetLabels() {
		set[key] = other
	}
	return set
}
