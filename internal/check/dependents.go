package check

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// selector describes how a controller selects the objects that it adopts, as found in runs without faults.
type selector struct {
	field  bool // the controller adopts by spec.selector of the owner
	labels []label
}

// label is a label that an object must have to be adopted.
type label struct {
	key   string
	path  []string // the owner's field that contains the value; nil if all owners have the same value
	value string
}

// stray is the name of a copy of a dependent that has no owner: see found.named.
const stray = "threelaws-stray"

// named returns the name of a copy of a dependent. Copies of two kinds have different names: if the controller reconciles
// the kind of one copy, it may create a dependent of another kind with the same name.
func (f *found) named(name string, d manifest) string {
	if f.each()[0].GroupVersionKind() == d.GroupVersionKind() {
		return name
	}
	return name + "-" + strings.ToLower(d.GetKind())
}

// adoption tests whether the controller adopts copies of dependents, and finds the labels that a copy needs for this.
// If the controller adopts copies of only some kinds, it uses more than labels, so no selector is assumed.
func (f *found) adoption(s *operator) error {
	var copies, adopted, left []manifest
	for _, d := range f.each() {
		copies = append(copies, d.copied(f.named(stray, d)))
	}
	if len(copies) > 1 {
		if is, works, _ := f.adoptsOne(s, copies...); works && !is {
			copies = nil // it adopts none of them
		}
	}
	for _, c := range copies {
		switch is, _, why := f.adoptsOne(s, c); {
		case why != "":
			f.doubt(adopting + " a " + c.GetKind() + ": " + why)
		case is:
			adopted = append(adopted, c)
		default:
			left = append(left, c)
		}
	}
	if f.adopts = len(adopted) > 0; f.adopts {
		if len(left) == 0 {
			if f.selector = (&selector{field: true}); !f.fits(s, f.selector) {
				f.selector = f.labelsOf(s, adopted[0])
			}
		}
		if f.selector == nil {
			f.doubt("how it selects what it adopts, a " + adopted[0].GetKind())
		}
	}
	return f.letting(s)
}

// fits runs a world with the sample and, if there is one, a second owner. It reports whether the selector of each owner
// matches all dependents of this owner.
func (f *found) fits(s *operator, sel *selector) bool {
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

// each returns the first dependent of each kind.
func (f *found) each() (list []manifest) {
	for _, d := range f.dependents {
		if slices.ContainsFunc(f.given, d.same) {
			continue // it adopts an object that the user has given
		}
		if !slices.ContainsFunc(list, func(o manifest) bool { return o.GroupVersionKind() == d.GroupVersionKind() }) {
			list = append(list, d)
		}
	}
	return list
}

// adoptsOne reports whether the controller adopts one of these objects for the sample. works says whether it creates all
// dependents of the sample. why is the reason if this cannot be tested.
func (f *found) adoptsOne(s *operator, orphans ...manifest) (adopted, works bool, why string) {
	r, err := s.run(append(orphans, s.owner)...)
	if err != nil {
		return false, false, err.Error()
	}
	defer r.Stop()
	for _, rec := range r.writes() {
		if after, ok := rec.After.(metav1.Object); ok && metav1.GetControllerOf(after) != nil &&
			slices.ContainsFunc(orphans, func(o manifest) bool { return o.GetName() == rec.Object.Name && o.GetKind() == rec.Object.Kind }) {
			return true, true, ""
		}
	}
	if !r.settled {
		return false, false, notSettled
	}
	return false, len(r.controlled(s.owner, f.owns)) >= len(f.dependents), ""
}

// selects returns the selector in spec.selector. The field may be a label selector or a map of labels. selects returns
// nil if there is no such field, or if it is empty or invalid.
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

// labelsOf returns the labels without which a copy is not adopted; nil if there are none, or if a dependent lacks one.
func (f *found) labelsOf(s *operator, copy manifest) *selector {
	sel := &selector{}
	for _, key := range slices.Sorted(maps.Keys(copy.GetLabels())) {
		less := maps.Clone(copy.GetLabels())
		delete(less, key)
		without := copy.copied(copy.GetName())
		without.SetLabels(less)
		if adopted, _, why := f.adoptsOne(s, without); why != "" || adopted {
			continue
		}
		sel.labels = append(sel.labels, f.source(s, key, copy.GetLabels()[key]))
	}
	if len(sel.labels) == 0 || !f.fits(s, sel) {
		return nil
	}
	return sel
}

// source finds the field of the owner that contains the value of a label. If no field contains it, all owners have the
// same value.
func (f *found) source(s *operator, key, value string) label {
	paths := [][]string{{"metadata", "name"}}
	for _, e := range leaves(s.owner.Object["spec"], nil, nil, "spec") {
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

func (sel *selector) String() string {
	if sel.field {
		return "objects selected by spec.selector"
	}
	var parts []string
	for _, l := range sel.labels {
		if l.path != nil {
			l.value = "(" + strings.Join(l.path, ".") + ")"
		}
		parts = append(parts, l.key+"="+l.value)
	}
	return "objects with the labels " + strings.Join(parts, ", ")
}

// letting tests whether the controller releases a dependent after its labels were changed, creates another one beside it,
// or restores the labels.
func (f *found) letting(s *operator) error {
	if len(f.dependents) == 0 || len(f.dependents[0].GetLabels()) == 0 {
		return nil
	}
	r, err := s.run(s.owner)
	if err != nil {
		return err
	}
	defer r.Stop()
	d, had := f.dependents[0], len(r.controlled(s.owner, f.owns))
	if err := r.merge(d, map[string]any{"metadata": map[string]any{"labels": others(d)}}); err != nil {
		return nil // the server does not allow the user to change these labels
	}
	now := r.stored(d)
	f.releases = now != nil && metav1.GetControllerOf(now.(metav1.Object)) == nil
	f.clings = now != nil && !f.releases
	f.forgets = !f.releases && len(r.controlled(s.owner, f.owns)) > had
	f.restores = now != nil && maps.Equal(d.GetLabels(), now.(metav1.Object).GetLabels())
	return nil
}

func others(m manifest) map[string]any {
	set := map[string]any{}
	for key := range m.GetLabels() {
		set[key] = other
	}
	return set
}

// noted says when the controller creates a deleted dependent again: at once, after an edit of its owner, after a
// restart, or never. In the last case it may report in its status, a warning or an error that the dependent is missing.
type noted int

const (
	atOnce noted = iota
	touched
	restarted
	never
	reported
)

// deletedOnes finds the kinds whose deleted dependents are not created again at once. A deleted backup, for example,
// may never be created again, because its owner records that the backup was made.
func (f *found) deletedOnes(s *operator) error {
	if s.lasts > 0 {
		return nil // the controller creates objects at certain times, so a new object proves nothing
	}
	all := slices.DeleteFunc(f.each(), func(d manifest) bool { return slices.Contains(f.asleep, d.GroupVersionKind()) })
	if when, err := f.recreates(s, all...); err != nil || when == atOnce {
		return err
	}
	for _, d := range all {
		when, err := f.recreates(s, d)
		if err != nil {
			return err
		}
		switch when {
		case touched:
			f.unnoticed = append(f.unnoticed, "a "+d.GetKind()+": it is created again after its owner was touched")
		case restarted:
			f.unnoticed = append(f.unnoticed, "a "+d.GetKind()+": it is created again after a restart")
		case never, reported:
			f.once = append(f.once, d.GroupVersionKind())
			if when == never {
				f.silent = append(f.silent, d.GroupVersionKind())
			}
		}
	}
	return nil
}

// recreates deletes dependents of the settled sample. The result says when the sample has as many dependents as before:
// at once, after an edit, after a restart, or never. If this cannot be tested, the result is atOnce.
func (f *found) recreates(s *operator, deleted ...manifest) (noted, error) {
	if len(deleted) == 0 {
		return atOnce, nil
	}
	r, err := s.run(s.owner)
	if err != nil {
		return atOnce, err
	}
	defer r.Stop()
	count := func() (n int) {
		for _, d := range deleted {
			n += len(r.controlled(s.owner, []schema.GroupVersionKind{d.GroupVersionKind()}))
		}
		return n
	}
	before, status := count(), r.shown(s.owner).Object["status"]
	for _, d := range deleted {
		req := &fakeapi.Request{Verb: fakeapi.Delete, Kind: r.Server.Kind(d.GroupVersionKind()), Namespace: d.GetNamespace(),
			Name: d.GetName()}
		if d.GetKind() == "Pod" {
			req.Delete.GracePeriodSeconds = new(int64)
		}
		if err := r.does(req); err != nil {
			return atOnce, nil // the server does not allow the user to delete the dependent
		}
		if o := r.stored(d); o != nil && o.(metav1.Object).GetUID() == d.GetUID() {
			return atOnce, nil // a finalizer delays the deletion
		}
	}
	for when, provoke := range []func() error{
		func() error { return nil },
		func() error {
			return r.merge(s.owner, map[string]any{"metadata": map[string]any{"annotations": map[string]any{other: "yes"}}})
		},
		func() error {
			r.of.Restart(0)
			r.settle()
			return nil
		},
	} {
		if err := provoke(); err != nil || !r.settled || r.stored(s.owner) == nil {
			return atOnce, nil // the world has not settled, or the owner is gone, so the count proves nothing
		}
		if count() >= before {
			return noted(when), nil
		}
	}
	if r.complains() || !sameStatus(status, r.shown(s.owner).Object["status"]) {
		return reported, nil
	}
	return never, nil
}

// oversees corrects f.once after the edits: an object that the controller writes again after an edit is not created only
// once. If it is deleted, the controller must create it again, or report that it is missing.
func (f *found) oversees(s *operator) {
	f.once = slices.DeleteFunc(f.once, func(gvk schema.GroupVersionKind) bool {
		return slices.Contains(f.silent, gvk) && (gvk.Kind == "Secret" || !slices.Contains(madeOnce, gvk.Kind)) && !s.custom(gvk) &&
			slices.ContainsFunc(f.follows(), func(e *edit) bool {
				return e.after != nil && rewrites(gvk, f.base.dependents, e.after.dependents)
			})
	})
}

// createsOnce reports whether a deleted dependent of this kind is not created again.
func (f *found) createsOnce(d manifest) bool { return slices.Contains(f.once, d.GroupVersionKind()) }
