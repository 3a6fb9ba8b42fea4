package check

import (
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

// These constants limit how many optional fields are removed from the sample, for a reconciler and for a whole program.
const (
	mostRemoved        = 12
	mostProgramRemoved = 2
)

// removals removes optional fields, and finds the fields to whose removal the controller reacts. If adding a field adds
// a value to a dependent, then removing the field must remove that value.
func (f *found) removals(s *operator) error {
	if s.lasts > 0 { // the controller creates objects at certain times, so a new object proves nothing
		f.doubt(removing + ": that depends on the time")
		return nil
	}
	most := mostRemoved
	if s.Controller.Hosted() {
		most = mostProgramRemoved
	}
	tried := 0
	fields := optional(s.owner.Object, nil, "spec")
	for i, e := range fields {
		without := s.edited(e, nil)
		if stored, err := s.creates(without); err != nil || present(stored.Object, e.path) {
			continue // the field is required, or has a default
		}
		if tried++; tried > most || s.over() != nil {
			f.untried += len(fields) - i
			break
		}
		if err := f.tryRemoval(s, e, without); err != nil {
			return err
		}
	}
	return nil
}

// optional lists edits that each remove a field of an object. The removal of a map comes before the removals of its
// fields. Items of lists are not removed.
func optional(object map[string]any, list []*edit, path ...string) []*edit {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	if len(path) > 1 {
		list = append(list, &edit{path: path, from: value, was: value, name: strings.Join(path, ".")})
	}
	if in, is := value.(map[string]any); is {
		for _, key := range slices.Sorted(maps.Keys(in)) {
			list = optional(object, list, append(slices.Clone(path), key)...)
		}
	}
	return list
}

func present(object map[string]any, path []string) bool {
	_, ok, _ := unstructured.NestedFieldNoCopy(object, path...)
	return ok
}

// tryRemoval removes a field from the settled sample. In another world it creates the sample without the field, and
// adds the field later, to find what the field adds to dependents.
func (f *found) tryRemoval(s *operator, e *edit, without manifest) error {
	bare, err := s.run(without)
	if err != nil {
		return err
	}
	defer bare.Stop()
	if !bare.settled {
		f.doubt(removing + ": " + notSettled + " without " + e.name)
		return nil
	}
	had, plain := f.dependents, bare.controlled(without, f.owns)
	marks := only(had, plain)
	switch err := bare.merge(without, e.patch(e.from)); {
	case err != nil:
		return s.over() // the server refuses to add the field
	case !bare.settled:
		f.doubt(removing + ": " + notSettled + " after " + e.name + " was added")
		return nil
	}
	// A controller need not remove a value that it adds only to new dependents.
	full := bare.controlled(without, f.owns)
	marks = slices.DeleteFunc(marks, func(m mark) bool { return !m.in(full) })
	left, answered, err := f.takesOut(s, e, marks, nil)
	if err != nil || !answered {
		return err
	}
	f.removes = append(f.removes, e)
	if len(left) > 0 && f.keeps == nil {
		if again, _, err := f.takesOut(s, e, left, sim.NewSeed(1)); err == nil && len(again) > 0 {
			f.keeps = &kept{e, again}
		}
	}
	if e.marks = marks; f.keeps != nil && f.keeps.edit == e {
		e.marks = f.keeps.marks
	}
	return nil
}

// takesOut removes a field from the settled sample. marks are values that dependents have because of the field; left
// contains the values that they keep. answered says whether the controller reacts.
func (f *found) takesOut(s *operator, e *edit, marks []mark, choices sim.Choices) (left []mark, answered bool, err error) {
	r, err := s.drawn(append(slices.Clone(s.around), s.owner), choices, nil)
	if err != nil {
		return nil, false, err
	}
	defer r.Stop()
	e.had = f.active(s, r.controlled(s.owner, f.owns))
	switch err := r.merge(s.owner, e.patch(nil)); {
	case err != nil:
		return nil, false, s.over() // the server refuses to remove the field
	case !r.settled:
		f.doubt(removing + ": " + notSettled + " after the removal of " + e.name)
		return nil, false, nil
	}
	now := r.controlled(s.owner, f.owns)
	e.has, answered = f.active(s, now), r.deeds() != "" || len(marks) > 0
	for _, m := range marks {
		if m.in(now) {
			left = append(left, m)
		}
	}
	e.back = e.had
	if r.merge(s.owner, e.patch(e.from)) == nil && r.settled {
		e.back = f.active(s, r.controlled(s.owner, f.owns))
	}
	return left, answered, nil
}

// only lists the values in had that are missing in the same objects in plain. It ignores metadata and status.
func only(had, plain []manifest) (list []mark) {
	for _, d := range had {
		i := slices.IndexFunc(plain, d.same)
		if i < 0 {
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(d.Object)) {
			if field == "metadata" || field == "status" {
				continue
			}
			missing(d.Object[field], plain[i].Object[field], []string{field}, func(path []string, value any) {
				list = append(list, mark{d, path, value})
			})
		}
	}
	return list
}

func (m manifest) same(o manifest) bool {
	return m.GroupVersionKind() == o.GroupVersionKind() && m.GetNamespace() == o.GetNamespace() && m.GetName() == o.GetName()
}

// missing yields the values of a that are not in b.
func missing(a, b any, path []string, yield func(path []string, value any)) {
	if b == nil {
		if a != nil {
			yield(path, a)
		}
		return
	}
	switch a := a.(type) {
	case map[string]any:
		in, _ := b.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(a)) {
			missing(a[key], in[key], append(slices.Clone(path), key), yield)
		}
	case []any:
		for _, item := range a {
			if key := itemOf(item); key != "" {
				missing(item, part(b, key), append(slices.Clone(path), key), yield)
			}
		}
	}
}

// itemOf identifies an item of a list by its value or its name field. It returns "" for other items.
func itemOf(item any) string {
	switch item := item.(type) {
	case string, int64:
		return fmt.Sprintf("[%v]", item)
	case map[string]any:
		if name, is := item["name"].(string); is {
			return "[name=" + name + "]"
		}
	}
	return ""
}

// part returns a field of an object or an item of a list, or nil if there is none.
func part(in any, key string) any {
	switch in := in.(type) {
	case map[string]any:
		return in[key]
	case []any:
		if i := slices.IndexFunc(in, func(item any) bool { return itemOf(item) == key }); i >= 0 {
			return in[i]
		}
	}
	return nil
}

func (m *mark) in(list []manifest) bool {
	i := slices.IndexFunc(list, m.of.same)
	return i >= 0 && m.on(list[i].Object)
}

func (m *mark) on(object map[string]any) bool {
	var now any = object
	for _, key := range m.path {
		now = part(now, key)
	}
	return reflect.DeepEqual(now, m.value)
}

func (m *mark) String() string {
	return m.of.at() + " " + strings.ReplaceAll(strings.Join(m.path, "."), ".[", "[")
}

func (k *kept) String() string {
	return fmt.Sprintf("%s, which comes from %s, when that is removed", &k.marks[0], k.edit.name)
}

// removed is a case: optional fields of the sample are removed and added again, except the last field, which stays
// removed.
func (f *found) removed(s *operator) place {
	p := place{name: "removed", objects: f.both(s), settled: true, faults: few}
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
			p.user = append(p.user, patch(f.of, e.patch(nil)), patch(f.of, e.patch(e.from)))
		}
	}
	p.user = append(p.user, casefile.Action{Verb: "settle"}, patch(f.of, last.patch(nil)))
	p.settledCheck = f.takenOut(s, last)
	return p
}

// takenOut returns a check that no dependent keeps a value of a removed field.
func (f *found) takenOut(s *operator, e *edit) scenarios.Func {
	return func(user host.Client) error {
		owner, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
		if err != nil || present(object(owner), e.path) {
			return nil
		}
		for _, m := range e.marks {
			o, err := user.Get(context.Background(), m.of.GroupVersionKind(), m.of.GetNamespace(), m.of.GetName())
			if err != nil {
				continue
			}
			ref := metav1.GetControllerOf(o.(metav1.Object))
			if ref != nil && ref.UID == owner.(metav1.Object).GetUID() && m.on(shown(o.(runtime.Object), m.of.GroupVersionKind()).Object) {
				return fmt.Errorf("%s still exists, but it comes from %s, which %s no longer has",
					&m, e.name, f.of)
			}
		}
		return nil
	}
}
