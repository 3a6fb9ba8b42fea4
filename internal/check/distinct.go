package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/law"
)

// distinct is a field for which the controller chooses another value for every owner: a port, a range of addresses.
type distinct struct {
	kind schema.GroupVersionKind // of the owner, or of a dependent
	path string                  // "status.cidr"
}

func (d distinct) String() string { return d.kind.Kind + " " + d.path }

// manyOwners is how many owners of equal specs must all have different values in quiet runs. Values that are shared, as
// the names of a few shards, repeat among so many.
var manyOwners = []string{"", "-second", "-third", "-fourth", "-fifth"}

// distinctValues returns the fields whose values are different for all owners, whether these are created at once, in
// either order, or one after the other. second is an owner beside the sample; its names end in "-second".
func (s *subject) distinctValues(second manifest, owns []schema.GroupVersionKind) ([]distinct, error) {
	owners := []manifest{s.owner}
	for _, suffix := range manyOwners[1:] {
		m, err := read([]byte(strings.ReplaceAll(second.text(), "-second", suffix)))
		if err != nil {
			return nil, err
		}
		owners = append(owners, m)
	}
	reversed := slices.Clone(owners)
	slices.Reverse(reversed)
	var all []distinct
	for i, begin := range [][]manifest{owners, reversed, owners[:1]} {
		r, err := s.run(begin...)
		if err != nil {
			return nil, s.over() // the server refuses so many
		}
		for _, m := range owners[len(begin):] {
			if err = r.creates(m); err != nil {
				break
			}
		}
		found := r.differing(owners, owns)
		if i > 0 {
			found = slices.DeleteFunc(found, func(d distinct) bool { return !slices.Contains(all, d) })
		}
		settled := r.settled && err == nil
		if r.Stop(); !settled {
			return nil, s.over()
		}
		if all = found; len(all) == 0 {
			return nil, nil
		}
	}
	return all, nil
}

// creates lets the user create an object.
func (r *quiet) creates(m manifest) error {
	k := r.Server.Kind(m.GroupVersionKind())
	obj, err := m.typed(k)
	if err != nil {
		return err
	}
	return r.does(&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj})
}

// differing returns the fields that all owners have, with different values that the user did not write and that do not
// follow from the owners' names.
func (r *quiet) differing(owners []manifest, owns []schema.GroupVersionKind) (all []distinct) {
	var values []map[distinct]string
	for _, m := range owners {
		stored := r.shown(m)
		v := chosenValues(stored, r.controlled(m, owns))
		for given := range chosenValues(m, nil) {
			delete(v, given)
		}
		values = append(values, v)
	}
	for d := range values[0] {
		seen, nameless := map[string]bool{}, map[string]bool{}
		for i, v := range values {
			if text, has := v[d]; has {
				seen[text] = true
				nameless[strings.ReplaceAll(text, owners[i].GetName(), "")] = true
			}
		}
		if len(seen) == len(owners) && len(nameless) == len(owners) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b distinct) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// chosenValues returns the fields of an owner, and of its dependents where it has one of their kind, that may hold a
// value that the controller has chosen: numbers, and texts with digits, that are no times.
func chosenValues(owner manifest, dependents []manifest) map[distinct]string {
	all := map[distinct]string{}
	for i, m := range append([]manifest{owner}, dependents...) {
		gvk := m.GroupVersionKind()
		if i > 0 && slices.ContainsFunc(dependents, func(o manifest) bool {
			return o.GroupVersionKind() == gvk && o.GetName() != m.GetName()
		}) {
			continue
		}
		for field, v := range m.Object {
			if field != "metadata" {
				eachChosen(v, field, func(path, text string) { all[distinct{gvk, path}] = text })
			}
		}
	}
	return all
}

// notChosen are fields that say what was observed.
var notChosen = []string{"conditions", "observedGeneration", "resourceVersion", "uid", "apiVersion", "kind"}

func eachChosen(v any, path string, do func(path, text string)) {
	if slices.Contains(notChosen, path[strings.LastIndexByte(path, '.')+1:]) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for field, x := range v {
			eachChosen(x, path+"."+field, do)
		}
	case []any:
		for i, x := range v {
			eachChosen(x, fmt.Sprintf("%s[%d]", path, i), do)
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err != nil && digits.MatchString(v) {
			do(path, v)
		}
	case int64, float64:
		if text := fmt.Sprint(v); len(text) < len("1500000000") { // a longer one may be a time
			do(path, text)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]`)

// differentValues is the name of the invariant that owners have different values.
const differentValues = "different-values"

// differ returns the invariant that the sample and a second owner have different values in some fields.
func differ(first, second manifest, owns []schema.GroupVersionKind, fields []distinct) *law.Invariant {
	var names []string
	for _, d := range fields {
		names = append(names, d.String())
	}
	return &law.Invariant{ID: differentValues, When: law.WhenSettled,
		Sentence: "No two owners have the same " + strings.Join(names, " or ") + ".",
		Check: func(f *law.Facts) string {
			a, b := ownerValues(f, first, owns), ownerValues(f, second, owns)
			for _, d := range fields {
				if x, is := a[d]; is && x == b[d] {
					return fmt.Sprintf("%s and %s have the same %s: %s", first.at(), second.at(), d, x)
				}
			}
			return ""
		}}
}

// ownerValues are the values of an owner and its dependents in a settled world; none where it is not there.
func ownerValues(f *law.Facts, owner manifest, owns []schema.GroupVersionKind) map[distinct]string {
	o := f.Get(owner.GetKind(), owner.GetNamespace(), owner.GetName())
	if o == nil {
		return nil
	}
	var dependents []manifest
	for _, gvk := range owns {
		for _, d := range f.All(gvk.Kind) {
			if metav1.IsControlledBy(d.(metav1.Object), o.(metav1.Object)) {
				dependents = append(dependents, shown(d, gvk))
			}
		}
	}
	return chosenValues(shown(o, owner.GroupVersionKind()), dependents)
}
