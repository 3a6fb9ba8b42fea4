package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// kept is a mistake: dependents keep the values of a field after the field was removed from their owner.
type kept struct {
	edit  *edit
	marks []mark
}

// These constants limit how many optional fields are removed from the sample, and how many items of lists, for a
// reconciler and for a whole program.
const (
	mostRemoved        = 12
	mostItems          = 4
	mostProgramRemoved = 2
	mostProgramItems   = 1
)

// removals removes optional fields and items of lists, and turns off boolean fields. It finds those to whose removal the
// controller reacts. If adding a field adds a value or a dependent, then removing the field must remove it.
func (f *found) removals(s *operator) error {
	if s.lasts > 0 { // the controller creates objects at certain times, so a new object proves nothing
		f.doubt(removing + ": that depends on the time")
		return nil
	}
	most, items := mostRemoved, mostItems
	if s.Controller.Hosted() {
		most, items = mostProgramRemoved, mostProgramItems
	}
	if err := f.removeEach(s, lastItems(s.owner.Object["spec"], nil, "spec"), items); err != nil {
		return err
	}
	return f.removeEach(s, optional(s.owner.Object, nil, "spec"), most)
}

// removeEach tries removals until it has tried most of them.
func (f *found) removeEach(s *operator, removals []*edit, most int) error {
	tried := 0
	for i, e := range removals {
		without := s.edited(e, e.to)
		if stored, err := s.creates(without); err != nil || !e.off(stored.Object) {
			continue // the field is required, or has a default
		}
		if tried++; tried > most || s.over() != nil {
			f.untried += len(removals) - i
			break
		}
		if err := f.tryRemoval(s, e, without); err != nil {
			return err
		}
		if e.to == nil || len(f.finalizers) == 0 {
			continue
		}
		if err := f.strandsWithout(s, e); err != nil {
			return err
		}
	}
	return nil
}

// strandsWithout looks for what stays if the sample is deleted after the removal of an item.
func (f *found) strandsWithout(s *operator, e *edit) error {
	r, err := s.run(s.owner)
	if err != nil {
		return err
	}
	defer r.Stop()
	return f.stranded(s, r, e)
}

// optional lists edits that each remove a field of an object, or set it from true to false. The removal of a map comes
// before the removals of its fields. Items of lists are not removed.
func optional(object map[string]any, list []*edit, path ...string) []*edit {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	if len(path) > 1 {
		list = append(list, &edit{path: path, from: value, was: value, name: strings.Join(path, ".")})
	}
	if value == true {
		list = append(list, &edit{path: path, from: true, to: false, was: true, is: false, name: strings.Join(path, ".")})
	}
	if in, is := value.(map[string]any); is {
		for _, key := range slices.Sorted(maps.Keys(in)) {
			list = optional(object, list, append(slices.Clone(path), key)...)
		}
	}
	return list
}

// lastItems lists edits that each remove the last item of a list with several items.
func lastItems(value any, list []*edit, path ...string) []*edit {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = lastItems(v[key], list, append(slices.Clone(path), key)...)
		}
	case []any:
		if last := len(v) - 1; last > 0 {
			list = append(list, &edit{path: path, from: v, to: v[:last:last], was: v[last],
				name: fmt.Sprintf("%s[%d]", strings.Join(path, "."), last)})
		}
	}
	return list
}

// off reports whether an owner is as after the edit.
func (e *edit) off(owner map[string]any) bool {
	now, _, _ := unstructured.NestedFieldNoCopy(owner, e.path...)
	return reflect.DeepEqual(now, e.to)
}

// tryRemoval removes a field from the settled sample. In another world it creates the sample without the field, and
// adds the field later, to find what the field adds to dependents.
func (f *found) tryRemoval(s *operator, e *edit, without manifest) error {
	bare, err := s.run(without)
	if err != nil {
		return err
	}
	defer bare.Stop()
	if bare.panics() {
		f.breaks = cmp.Or(f.breaks, e) // the case removed reports it
		return nil
	}
	if !bare.settled {
		f.doubt(removing + ": " + notSettled + " without " + e.name)
		_, _, _, err := f.takesOut(s, e, nil, bare.shown(without), nil)
		return err
	}
	had, plain := f.dependents, bare.controlled(without, f.owns)
	e.needed = len(plain)+len(f.loose(bare)) == 0
	marks := slices.Concat(only(had, plain), passedOn(e, had, plain), absent(had, plain), f.looseWith(bare))
	plainly := bare.shown(without)
	switch err := bare.merge(without, e.patch(e.from)); {
	case err != nil:
		return s.over() // the server refuses to add the field
	case !bare.settled:
		f.doubt(removing + ": " + notSettled + " after " + e.name + " was added")
		return nil
	}
	// A controller need not remove a value that it adds only to new dependents.
	full := append(bare.controlled(without, f.owns), f.loose(bare)...)
	marks = slices.DeleteFunc(marks, func(m mark) bool { return !m.in(full) })
	left, wrong, answered, err := f.takesOut(s, e, marks, plainly, nil)
	if err != nil || !answered {
		return err
	}
	f.removes = append(f.removes, e)
	e.marks = slices.DeleteFunc(marks, func(m mark) bool { return slices.ContainsFunc(left, m.equal) })
	if len(wrong) == 0 || f.keeps != nil {
		return nil
	}
	if _, again, _, err := f.takesOut(s, e, wrong, plainly, sim.NewSeed(1)); err == nil && len(again) > 0 {
		f.keeps, e.marks = &kept{e, again}, again
	}
	return nil
}

// takesOut removes a field from the settled sample. marks are values and dependents that exist because of the field. left
// contains those that stay, and wrong those that must not stay: a dependent may stay if the controller reports a
// difference from the owner plainly, which was created without the field. If that owner has no dependents at all, it may
// also report a difference from before: it keeps what runs until the field is back. A value may stay if the difference is
// in a condition, for example because it can only rise. answered says whether the controller reacts.
func (f *found) takesOut(s *operator, e *edit, marks []mark, plainly manifest, choices sim.Choices) (
	left, wrong []mark, answered bool, err error) {
	r, err := s.drawn(append(slices.Clone(s.around), s.owner), choices, nil)
	if err != nil {
		return nil, nil, false, err
	}
	defer r.Stop()
	e.had = f.active(s, r.controlled(s.owner, f.owns))
	switch err := r.merge(s.owner, e.patch(e.to)); {
	case err != nil:
		return nil, nil, false, s.over() // the server refuses to remove the field
	case !r.settled:
		if e.has = e.had; f.fights == nil && r.writesOn() {
			f.fights = e
		}
		f.doubt(removing + ": " + notSettled + " after the removal of " + e.name)
		return nil, nil, false, nil
	}
	owned, status := r.controlled(s.owner, f.owns), r.shown(s.owner).Object["status"]
	now := append(slices.Clone(owned), f.loose(r)...)
	reports := r.complains() || !sameStatus(status, plainly.Object["status"]) || e.needed && !sameStatus(status, f.base.status())
	explains := !sameConditions(status, plainly.Object["status"])
	e.has, answered = f.active(s, owned), r.deeds() != "" || len(marks) > 0
	for _, m := range marks {
		if m.in(now) {
			left = append(left, m)
			if !explains && !(m.whole && reports) {
				wrong = append(wrong, m)
			}
		}
	}
	e.back = e.had
	if r.merge(s.owner, e.patch(e.from)) == nil && r.settled {
		e.back = f.active(s, r.controlled(s.owner, f.owns))
	}
	return left, wrong, answered, nil
}

func (k *kept) String() string {
	return fmt.Sprintf("%s, which comes from %s, when that is %s", &k.marks[0], k.edit.name, k.edit.turned())
}

// turned returns what an edit makes of its field: "removed" or the new value.
func (e *edit) turned() string {
	if e.removes() {
		return "removed"
	}
	return fmt.Sprint(brief(e.is))
}

// source returns what an edit takes from the owner: "spec.debug" or "spec.debug: true".
func (e *edit) source() string {
	if e.removes() {
		return e.name
	}
	return fmt.Sprintf("%s: %v", e.name, brief(e.was))
}

// removed is a case: optional fields of the sample are removed and added again, except the last field, which stays
// removed. If the controller panics without an optional field, the sample is created without this field.
func (f *found) removed(s *operator) place {
	p := place{name: "removed", objects: f.both(s), settled: true, faults: few}
	if e := f.breaks; e != nil { // a sample that has its dependents already may not cause the panic
		p.objects, p.settled = []manifest{s.edited(e, e.to)}, false
		return p
	}
	removes := f.removes
	if len(removes) == 0 {
		_, removes = f.keepers()
	}
	if len(removes) == 0 {
		p.why = f.untold("no optional field of its sample's spec, taken out, made it do anything", editing, removing)
		return p
	}
	last := removes[0]
	for _, e := range removes {
		if f.keeps != nil && f.keeps.edit == e || len(last.marks) == 0 {
			last = e
		}
	}
	for _, e := range removes {
		if e != last {
			p.user = append(p.user, patch(f.of, e.patch(e.to)), patch(f.of, e.patch(e.from)))
		}
	}
	p.user = append(p.user, casefile.Action{Verb: "settle"}, patch(f.of, last.patch(last.to)))
	p.settledCheck = f.takenOut(s, last)
	return p
}

// takenOut returns a check that no dependent keeps a value of a removed field.
func (f *found) takenOut(s *operator, e *edit) scenarios.Func {
	return func(user host.Client) error {
		owner, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
		if err != nil || !e.off(object(owner)) {
			return nil
		}
		for _, m := range e.marks {
			if m.stillOn(user, owner) {
				return fmt.Errorf("%s still exists, but it comes from %s, which %s no longer has", &m, e.source(), f.of)
			}
		}
		return nil
	}
}

// behind is a mistake: after an edit of the owner, some values of its dependents change, but others stay as they were,
// although they differ in an owner that is created with the edited spec.
type behind struct {
	edit    *edit
	follows mark // a value that changes
	stays   []lag
}

func (b *behind) String() string {
	return fmt.Sprintf("%s after %s, which %s follows", &b.stays[0].mark, b.edit, &b.follows)
}

// leftBehind finds an edit of a text after which a dependent stays that belongs to the old text. Two schedules must
// agree. A dependent may stay if an owner that is created with the edit has no dependents, and the status reports the
// difference.
func (f *found) leftBehind(s *operator) error {
	edits, _ := f.keepers()
	for _, e := range slices.Concat(edits, f.follows()) {
		old, is := e.was.(string)
		if !is || old == "" || e.after == nil || e.made == nil || !e.after.settled || !e.made.settled || e.after.complains ||
			!sameStatus(e.after.status(), e.made.status()) ||
			len(e.made.dependents) == 0 && !sameStatus(e.after.status(), f.base.status()) {
			continue
		}
		after := slices.DeleteFunc(slices.Clone(e.after.dependents), stopped) // such as an old revision
		left := superseded(f.base.dependents, after, e.made.dependents, old, fmt.Sprint(e.is))
		if len(left) == 0 { // the text may select the kind of the dependents, such as Deployment or StatefulSet
			stays := slices.DeleteFunc(after, func(d manifest) bool {
				return !slices.ContainsFunc(f.base.dependents, d.same)
			})
			left = absent(stays, e.made.dependents)
		}
		if len(left) == 0 {
			continue
		}
		r, err := s.drawn(append(slices.Clone(s.around), s.owner), sim.NewSeed(1), nil)
		if err != nil {
			return err
		}
		if err = r.merge(s.owner, e.patch(e.to)); err == nil && r.settled {
			now := r.controlled(s.owner, f.owns)
			left = slices.DeleteFunc(left, func(m mark) bool { return !m.in(now) })
			if len(left) > 0 {
				f.renamed, e.marks = &kept{e, left}, left
			}
		}
		if r.Stop(); err != nil || f.renamed != nil {
			return s.over()
		}
	}
	return nil
}

// lagging finds an edit that dependents follow only in part. Two schedules must agree. Edits of numbers of dependents do
// not count, since autoscalers and bootstrap settings make initial values differ from later ones.
func (f *found) lagging(s *operator) error {
	if err := f.leftBehind(s); err != nil {
		return err
	}
	for _, e := range f.follows() {
		if e.path == nil || count.MatchString(e.name) || e.after == nil || e.made == nil {
			continue
		}
		b := e.partly(f.base, e.after, e.made)
		if b == nil {
			continue
		}
		again, err := f.repeat(s, e)
		if err != nil {
			return err
		}
		if again == nil {
			continue
		}
		b.stays = slices.DeleteFunc(b.stays, func(l lag) bool {
			return !slices.ContainsFunc(again.stays, func(o lag) bool { return l.String() == o.String() })
		})
		if len(b.stays) > 0 {
			f.partly = b
			return nil
		}
	}
	return nil
}

// repeat finds what stays after an edit in another schedule. It leaves out what the server does not change, and objects
// whose values may stay.
func (f *found) repeat(s *operator, e *edit) (*behind, error) {
	r, err := s.drawn(append(slices.Clone(s.around), s.owner), sim.NewSeed(1), nil)
	if err != nil {
		return nil, err
	}
	defer r.Stop()
	before, edited := f.end(r, s.owner), s.edited(e, e.to)
	if err := r.merge(s.owner, e.patch(e.to)); err != nil {
		return nil, s.over()
	}
	created, err := s.drawn(append(slices.Clone(s.around), edited), sim.NewSeed(1), nil)
	if err != nil {
		return nil, s.over()
	}
	defer created.Stop()
	want := f.end(created, edited)
	b := e.partly(before, f.end(r, s.owner), want)
	if b == nil {
		return nil, nil
	}
	mayStay := map[string]bool{}
	for _, m := range want.dependents {
		mayStay[m.at()] = slices.Contains(madeOnce, m.GetKind()) || s.custom(m.GroupVersionKind()) || r.keepsAsIs(m)
	}
	b.stays = slices.DeleteFunc(b.stays, func(l lag) bool { return mayStay[l.of.at()] })
	return b, nil
}

// partly compares the ends before and after an edit with that of an owner that was created with it. It returns nil unless
// the dependents follow the edit in part. It also returns nil if the controller reports a difference: in the owner's
// status, in a warning, or by an error.
func (e *edit) partly(before, after, created *end) *behind {
	if !after.settled || !created.settled || after.complains || !sameStatus(after.status(), created.status()) {
		return nil
	}
	follows, stays := inPart(before.dependents, after.dependents, created.dependents)
	if follows == nil || len(stays) == 0 {
		return nil
	}
	return &behind{e, *follows, stays}
}

// keepsAsIs reports whether the server refuses to give a dependent the values that m has.
func (r *quiet) keepsAsIs(m manifest) bool {
	fields := map[string]any{}
	for field, value := range m.Object { //detcheck:ordered the fields are independent
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field) {
			fields[field] = value
		}
	}
	req, err := r.patch(m, fields)
	if err == nil {
		_, err = r.Request(req)
	}
	return err != nil
}

// stillOn reports whether the dependent still exists, has the value, and is controlled by owner if it had a controller.
func (m *mark) stillOn(user host.Client, owner any) bool {
	o, err := user.Get(context.Background(), m.of.GroupVersionKind(), m.of.GetNamespace(), m.of.GetName())
	if err != nil {
		return false
	}
	ref := metav1.GetControllerOf(o.(metav1.Object))
	if len(m.of.GetOwnerReferences()) > 0 && (ref == nil || ref.UID != owner.(metav1.Object).GetUID()) {
		return false
	}
	return m.on(shown(o.(runtime.Object), m.of.GroupVersionKind()).Object)
}

// caughtUp returns a check that no dependent is still as it was before the edit.
func (f *found) caughtUp(s *operator) scenarios.Func {
	if f.partly == nil {
		return nil
	}
	b := f.partly
	return func(user host.Client) error {
		owner, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
		if err != nil {
			return nil // the owner was deleted
		}
		if now, _, _ := unstructured.NestedFieldNoCopy(object(owner), b.edit.path...); !reflect.DeepEqual(now, b.edit.to) {
			return nil
		}
		for _, l := range b.stays {
			if l.stillOn(user, owner) {
				return fmt.Errorf("%s, as in an owner created with %s (%s follows the edit)", &l, b.edit.name, &b.follows)
			}
		}
		return nil
	}
}
