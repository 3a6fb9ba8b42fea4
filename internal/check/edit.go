package check

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// edit is a change of the sample that the controller answers: of one field, or one that the subject gives.
type edit struct {
	path     []string // what a merge patch replaces: the field, or the list that holds it; none for a patch that is given
	from, to any      // its values; of a patch that is given, the patches back and there
	name     string   // of the field, "spec.groups[0].replicas"
	was, is  any      // the values of the field
	had, has int      // how many dependents there were before, and are then
	back     int      // and when it is taken back
	marks    []mark   // of a removal: what dependents have by the field
}

// mostEdits is how many values of a spec are tried that the server takes.
const mostEdits = 16

// mostFollowed is how many fields are edited that a whole program follows, since each takes it some quiet runs: a reconciler
// is tried with all of them.
const mostFollowed = 3

// edits looks which fields of the sample the controller follows, and how many dependents
// an owner has by them.
func (f *found) edits(s *subject) error {
	first, err := s.run(s.owner)
	if err != nil {
		return err
	}
	stored := first.shown(s.owner)
	idle := ""
	if s.lasts > 0 { // what it does by the clock is no answer to an edit
		first.began = first.World.History.Len()
		first.settle()
		idle = first.deeds()
	}
	first.Stop()
	given, err := s.given(stored)
	if err != nil {
		return err
	}
	fields := append(given, fieldsOf(stored.Object)...)
	tried := 0
	for i, e := range fields {
		if tried == mostEdits+len(given) || s.Controller.Hosted() && f.scale != nil && f.change != nil && len(f.follows()) >= mostFollowed {
			f.untried = len(fields) - i
			break
		}
		if s.Hurry != nil && s.Hurry() {
			f.unknown = append(f.unknown, fmt.Sprintf("which fields it follows: no time was left after %d of %d", i,
				len(fields)))
			break
		}
		if i >= len(given) && s.refuses(e) {
			continue
		}
		tried++
		if answered, err := f.tryEdit(s, e, idle); err != nil {
			return err
		} else if !answered {
			continue
		}
		switch _, number := e.was.(int64); {
		case f.scale == nil && (number || i < len(given)) && e.has != e.had:
			f.scale = e
		case f.change == nil && e.has == e.had:
			f.change = e
		default:
			f.more = append(f.more, e)
		}
	}
	if err := f.removals(s); err != nil {
		return err
	}
	return f.want(s)
}

// two makes a sample that asks for one dependent ask for two: with one, a case would end with none, and nothing would be
// wrong with it. It returns a run of that, nil where the sample stays as it is.
func (f *found) two(s *subject, one *quiet) (*quiet, error) {
	if !one.settled || s.lasts > 0 || len(s.Edits) > 0 {
		return nil, nil
	}
	for _, e := range fieldsOf(one.shown(s.owner).Object) {
		if n, is := e.was.(int64); !is || n != 1 || !count.MatchString(e.name) || s.refuses(e) {
			continue
		}
		owner := manifest{s.owner.DeepCopy()}
		e.set(owner.Object, e.to)
		r, err := s.run(owner)
		if err != nil {
			return nil, err
		}
		if r.settled && len(r.controlled(owner, f.owns)) > len(one.controlled(s.owner, f.owns)) {
			f.raised, s.owner = e, owner
			return r, nil
		}
		r.Stop()
	}
	return nil, nil
}

// follows are the edits that the controller answers.
func (f *found) follows() (list []*edit) {
	for _, e := range append([]*edit{f.scale, f.change}, f.more...) {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// refuses reports whether the server takes no sample that is created with an edit.
func (s *subject) refuses(e *edit) bool {
	owner := manifest{s.owner.DeepCopy()}
	e.set(owner.Object, e.to)
	_, err := s.creates(owner)
	return err != nil
}

// creates is the sample as the server stores it, in a world without the controller.
func (s *subject) creates(owner manifest) (manifest, error) {
	server := s.server.Fork()
	for _, m := range append(slices.Clone(s.around), owner) {
		if err := create(server, m); err != nil {
			return manifest{}, err
		}
	}
	o := server.Lookup(server.Kind(owner.GroupVersionKind()), owner.GetNamespace(), owner.GetName())
	return shown(o, owner.GroupVersionKind()), nil
}

// tryEdit changes the settled sample. It reports whether the controller answers the edit with other deeds than it does
// without one, and notes how many dependents there are before and after it, and when it is taken back.
func (f *found) tryEdit(s *subject, e *edit, idle string) (answered bool, err error) {
	r, err := s.run(s.owner)
	if err != nil {
		return false, err
	}
	defer r.Stop()
	e.had = f.active(s, r.controlled(s.owner, f.owns))
	if err := r.merge(s.owner, e.patch(e.to)); err != nil {
		return false, nil // no value that the server takes
	}
	e.has = e.had
	switch {
	case r.settled:
	case r.writesOn():
		if f.fights == nil {
			f.fights = e
		}
		return false, nil
	default:
		if r.ticking.found == nil {
			f.waits = append(f.waits, e)
		}
		return false, nil
	}
	if s.lasts == 0 { // else the number goes by the clock
		e.has = f.active(s, r.controlled(s.owner, f.owns))
	}
	if r.deeds() == idle {
		return false, nil
	}
	if waits, err := s.waitsSo(e); err != nil || waits {
		f.waits = append(f.waits, e)
		return false, err
	}
	e.back = e.had
	if s.lasts == 0 && r.merge(s.owner, e.patch(e.from)) == nil && r.settled {
		e.back = f.active(s, r.controlled(s.owner, f.owns))
	}
	return true, nil
}

// waitsSo reports whether the controller, where the sample is created with an edit, tries again for ever and writes nothing:
// what it would create, perhaps, is refused.
func (s *subject) waitsSo(e *edit) (bool, error) {
	if s.lasts > 0 {
		return false, nil
	}
	owner := manifest{s.owner.DeepCopy()}
	e.set(owner.Object, e.to)
	r, err := s.run(owner)
	if err != nil {
		return false, err
	}
	defer r.Stop()
	return !r.settled && !r.writesOn() && r.ticking.found == nil, nil
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

// given are the edits that the subject names.
func (s *subject) given(stored manifest) (list []*edit, err error) {
	old, err := json.Marshal(stored.Object)
	if err != nil {
		return nil, err
	}
	for i, text := range s.Edits {
		wrong := func(err error) error { return mistake(fmt.Sprintf("Edits[%d]", i), "%v", err) }
		patch, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return nil, wrong(err)
		}
		edited, err := jsonpatch.MergePatch(old, patch)
		if err != nil {
			return nil, wrong(fmt.Errorf("%s is no merge patch: %w", text, err))
		}
		back, err := jsonpatch.CreateMergePatch(edited, old)
		if err != nil {
			return nil, wrong(err)
		}
		var to, from map[string]any
		if err := errors.Join(json.Unmarshal(patch, &to), json.Unmarshal(back, &from)); err != nil {
			return nil, wrong(err)
		}
		if len(from) == 0 {
			return nil, wrong(fmt.Errorf("%s changes nothing in the sample", text))
		}
		list = append(list, &edit{from: from, to: to, name: "Edits[" + strconv.Itoa(i) + "]"})
	}
	return list, nil
}

// another is another value of a field.
func another(v any) any {
	switch v := v.(type) {
	case int64:
		return v + 1
	case bool:
		return !v
	case string:
		if m := quantity.FindStringSubmatch(v); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
				return strconv.FormatInt(n+1, 10) + m[2]
			}
		}
	}
	return fmt.Sprint(v) + "x"
}

// quantity is a text that is a number with a unit: "1Gi", "30s".
var quantity = regexp.MustCompile(`^([0-9]+)([A-Za-z%]{0,2})$`)

// fieldsOf are edits of the fields of an object's spec that hold a text, a number or a truth value: those first that
// mostly say how many dependents there are, and those last that are inside lists.
func fieldsOf(object map[string]any) []*edit {
	list := leaves(object, nil, "spec")
	rank := func(e *edit) int {
		switch {
		case count.MatchString(e.name):
			return 0
		case !strings.Contains(e.name, "["):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b *edit) int { return rank(a) - rank(b) })
	return list
}

var count = regexp.MustCompile(`(?i)(replicas|\.size|\.count|\.parallelism)$`)

func leaves(object map[string]any, list []*edit, path ...string) []*edit {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = leaves(object, list, append(slices.Clone(path), key)...)
		}
	case []any:
		for i, item := range v {
			for _, e := range leaves(map[string]any{"": item}, nil, "") {
				list = append(list, &edit{path: path, from: v, to: within(v, i, e.path[1:], e.to), was: e.was, is: e.is,
					name: fmt.Sprintf("%s[%d]%s", strings.Join(path, "."), i, e.name)})
			}
		}
	case string, int64, bool:
		list = append(list, &edit{path: path, from: v, to: another(v), was: v, is: another(v), name: strings.Join(path, ".")})
	}
	return list
}

// within is a list with another value in a field of one of its objects, or for one of its values.
func within(list []any, item int, path []string, value any) []any {
	copied := runtime.DeepCopyJSONValue(list).([]any)
	if len(path) == 0 {
		copied[item] = value
	} else {
		set(copied[item].(map[string]any), path, value)
	}
	return copied
}

// patch is a merge patch that gives the field a value.
func (e *edit) patch(value any) map[string]any {
	if len(e.path) == 0 {
		return value.(map[string]any)
	}
	patch := map[string]any{}
	set(patch, e.path, value)
	return patch
}

// set gives an object a value of the edit.
func (e *edit) set(object map[string]any, value any) {
	switch {
	case len(e.path) > 0 && value == nil:
		unstructured.RemoveNestedField(object, e.path...)
		return
	case len(e.path) > 0:
		set(object, e.path, value)
		return
	}
	join(object, value.(map[string]any), false)
}

// join applies a merge patch to an object, or adds it to another patch, which keeps nulls.
func join(object, patch map[string]any, nulls bool) {
	for key, value := range patch { //detcheck:ordered each key is changed by itself
		if below, is := value.(map[string]any); is {
			there, both := object[key].(map[string]any)
			if !both {
				there = map[string]any{}
				object[key] = there
			}
			join(there, below, nulls)
			continue
		}
		if object[key] = runtime.DeepCopyJSONValue(value); value == nil && !nulls {
			delete(object, key)
		}
	}
}

// paths are the fields that say in which state of the edit an object is.
func (e *edit) paths() (paths [][]string) {
	if len(e.path) > 0 {
		return [][]string{e.path}
	}
	var walk func(patch map[string]any, path []string)
	walk = func(patch map[string]any, path []string) {
		for _, key := range slices.Sorted(maps.Keys(patch)) {
			at := append(slices.Clone(path), key)
			if below, is := patch[key].(map[string]any); is {
				walk(below, at)
			} else {
				paths = append(paths, at)
			}
		}
	}
	walk(e.to.(map[string]any), nil)
	return paths
}

// set gives a field a value that a field of that path has had.
func set(object map[string]any, path []string, value any) {
	if err := unstructured.SetNestedField(object, value, path...); err != nil {
		panic("check: " + err.Error())
	}
}

// less is one less than the sample asks for, where that is a number that was tried: a value of what f.scale replaces.
func (f *found) less() (value any, ok bool) {
	if f.scale == nil {
		return nil, false
	}
	was, number := f.scale.was.(int64)
	if !number || was < 2 {
		return nil, false // without dependents nothing goes wrong at the end
	}
	return f.scale.number(was - 1), true
}

// number is a value of what the edit replaces, with another number in its field.
func (e *edit) number(n int64) any {
	list, in := e.from.([]any)
	if !in {
		return n
	}
	copied := runtime.DeepCopyJSONValue(list).([]any)
	for i, item := range copied {
		for _, o := range leaves(map[string]any{"": item}, nil, "") {
			if fmt.Sprintf("%s[%d]%s", strings.Join(e.path, "."), i, o.name) == e.name {
				return within(list, i, o.path[1:], n)
			}
		}
	}
	return copied
}

// brief is a value in a line.
func brief(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case map[string]any:
		return "{...}"
	case []any:
		return "[...]"
	default:
		return fmt.Sprint(v)
	}
}

// String tells it: "spec.replicas: 2 -> 3, with 3 dependents".
func (e *edit) String() string {
	text := fmt.Sprintf("%s: %v -> %v", e.name, brief(e.was), brief(e.is))
	if len(e.path) == 0 {
		text = e.name
	}
	if e.has != e.had {
		text += fmt.Sprintf(", with %d dependents in place of %d", e.has, e.had)
	}
	return text
}
