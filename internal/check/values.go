package check

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// mark is a value that a dependent has because of a field of its owner, or a dependent that exists because of it.
type mark struct {
	of    manifest // the dependent
	path  []string // the fields to the value; an item of a list is "[name=x]" or "[x]"
	value any
	whole bool // the dependent exists because of the field; value is its spec without what the server chooses
}

// Values of madeOnce and chosenOnce may rightly stay as they were created: objects that cannot be changed, keep data, or
// end; numbers that another controller changes; and values that the server chooses.
var (
	madeOnce = []string{"Pod", "Job", "Secret", "PersistentVolumeClaim", "PersistentVolume", "ControllerRevision",
		"ReplicaSet", "ReplicationController", "PodTemplate"}
	chosenOnce = []string{"replicas", "nodePort", "healthCheckNodePort", "clusterIP", "clusterIPs"}
)

func (m *mark) in(list []manifest) bool {
	i := slices.IndexFunc(list, m.of.same)
	return i >= 0 && m.on(list[i].Object)
}

func (m *mark) on(object map[string]any) bool {
	var now any = object
	for _, key := range m.path {
		now = part(now, key)
	}
	if m.whole {
		if stopped(manifest{&unstructured.Unstructured{Object: object}}) && !stopped(m.of) {
			return false // a controller may keep a dependent that it no longer uses
		}
		now = withoutChosen(now)
	}
	return reflect.DeepEqual(now, m.value)
}

func (m *mark) equal(o mark) bool { return m.String() == o.String() && m.whole == o.whole }

func (m *mark) String() string {
	if m.whole {
		return m.of.at()
	}
	return m.of.at() + " " + strings.ReplaceAll(strings.Join(m.path, "."), ".[", "[")
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
				list = append(list, mark{of: d, path: path, value: value})
			})
		}
	}
	return list
}

// passedOn lists the labels and annotations in had that a removal takes out of the owner, and that are missing in plain.
func passedOn(e *edit, had, plain []manifest) (list []mark) {
	for _, d := range had {
		i := slices.IndexFunc(plain, d.same)
		for _, field := range []string{"annotations", "labels"} {
			set, _, _ := unstructured.NestedMap(d.Object, "metadata", field)
			for _, key := range slices.Sorted(maps.Keys(set)) {
				if i >= 0 && holds(e.patch(e.from), key, set[key]) && part(part(plain[i].Object["metadata"], field), key) == nil {
					list = append(list, mark{of: d, path: []string{"metadata", field, key}, value: set[key]})
				}
			}
		}
	}
	return list
}

// holds reports whether a key has this value anywhere in an object.
func holds(object map[string]any, key string, value any) bool {
	return object[key] == value || slices.ContainsFunc(slices.Collect(maps.Values(object)), func(below any) bool {
		in, is := below.(map[string]any)
		return is && holds(in, key, value)
	})
}

// absent lists the dependents in had that are missing in plain, if plain has no other dependent of their kind instead.
// It lists only kinds that a controller has no reason to keep.
func absent(had, plain []manifest) (list []mark) {
	for _, d := range had {
		instead := slices.ContainsFunc(plain, func(p manifest) bool {
			return p.GroupVersionKind() == d.GroupVersionKind() && !slices.ContainsFunc(had, p.same)
		})
		if slices.Contains(disposable, d.GetKind()) && !slices.ContainsFunc(plain, d.same) && !instead {
			list = append(list, mark{of: d, path: []string{"spec"}, value: withoutChosen(d.Object["spec"]), whole: true})
		}
	}
	return list
}

// superseded lists the dependents that an edit of a name has left behind, from the old text to the new one. An owner that
// is created with the edit does not have them, but others with the new text in their names. It lists only kinds that a
// controller has no reason to keep.
func superseded(before, after, created []manifest, old, new string) (list []mark) {
	for _, d := range after {
		instead := d.renamed(strings.Replace(d.GetName(), old, new, 1))
		if slices.Contains(disposable, d.GetKind()) && slices.ContainsFunc(before, d.same) &&
			!slices.ContainsFunc(created, d.same) && slices.ContainsFunc(created, instead.same) {
			list = append(list, mark{of: d, path: []string{"spec"}, value: withoutChosen(d.Object["spec"]), whole: true})
		}
	}
	return list
}

// rewrites reports whether a dependent of this kind has another content after an edit of its owner.
func rewrites(gvk schema.GroupVersionKind, before, after []manifest) bool {
	return slices.ContainsFunc(before, func(d manifest) bool {
		i := slices.IndexFunc(after, d.same)
		if i < 0 || d.GroupVersionKind() != gvk {
			return false
		}
		return slices.ContainsFunc(slices.Collect(maps.Keys(d.Object)), func(field string) bool {
			return field != "metadata" && field != "status" && !reflect.DeepEqual(d.Object[field], after[i].Object[field])
		})
	})
}

// disposable are the kinds of objects that hold no data and can be created again.
var disposable = []string{"Service", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler",
	"Deployment", "DaemonSet", "CronJob", "Role", "RoleBinding"}

// withoutChosen returns a copy of a spec without the values in chosenOnce.
func withoutChosen(spec any) any {
	fields, is := spec.(map[string]any)
	if !is {
		return spec
	}
	kept := map[string]any{}
	for name, value := range fields { //detcheck:ordered the fields are independent
		if !slices.Contains(chosenOnce, name) {
			kept[name] = value
		}
	}
	return kept
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

// changed yields the values that differ between a and b, with their paths. It ignores fields and items that only one of
// them has. Lists are compared item by item if all items have names, and otherwise as a whole.
func changed(a, b any, path []string, yield func(path []string, was, is any)) {
	switch was := a.(type) {
	case map[string]any:
		if is, both := b.(map[string]any); both {
			for _, key := range slices.Sorted(maps.Keys(was)) {
				if below, there := is[key]; there {
					changed(was[key], below, append(slices.Clone(path), key), yield)
				}
			}
			return
		}
	case []any:
		if is, both := b.([]any); both && allNamed(was) && allNamed(is) {
			for _, item := range was {
				if below := part(is, itemOf(item)); below != nil {
					changed(item, below, append(slices.Clone(path), itemOf(item)), yield)
				}
			}
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		yield(path, a, b)
	}
}

func allNamed(list []any) bool {
	return !slices.ContainsFunc(list, func(item any) bool { return !strings.HasPrefix(itemOf(item), "[name=") })
}

// sameStatus reports whether two status fields are equal, apart from times and observed generations.
func sameStatus(a, b any) bool { return reflect.DeepEqual(timeless(a), timeless(b)) }

// sameConditions compares the types, statuses and reasons of conditions.
func sameConditions(a, b any) bool {
	of := func(status any) (all []string) {
		fields, _ := status.(map[string]any)
		conditions, _ := fields["conditions"].([]any)
		for _, c := range conditions {
			c, _ := c.(map[string]any)
			all = append(all, fmt.Sprint(c["type"], c["status"], c["reason"]))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(of(a), of(b))
}

func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, below := range v { //detcheck:ordered the keys are independent
			if key != "observedGeneration" {
				kept[key] = timeless(below)
			}
		}
		return kept
	case []any:
		var kept []any
		for _, item := range v {
			kept = append(kept, timeless(item))
		}
		return kept
	case string:
		return sim.Timeless(v)
	}
	return v
}

// lag is a value that stays, and the value that the created owner's dependent has instead.
type lag struct {
	mark
	want any
}

func (l *lag) String() string {
	return fmt.Sprintf("%s is still %s, not %s", &l.mark, brief(l.value), brief(l.want))
}

// inPart compares dependents before and after an edit of their owner with those of an owner that was created with the
// edit. follows is a value that changed to that of the created owner, and stays are values that did not. Both are nil if
// the lists have other names.
func inPart(before, after, created []manifest) (follows *mark, stays []lag) {
	if len(before) != len(created) || len(after) != len(created) {
		return nil, nil
	}
	for _, m := range created {
		i, j := slices.IndexFunc(before, m.same), slices.IndexFunc(after, m.same)
		if i < 0 || j < 0 {
			return nil, nil
		}
		old, now := before[i].Object, after[j].Object
		for _, field := range slices.Sorted(maps.Keys(m.Object)) {
			if field == "metadata" || field == "status" {
				continue
			}
			changed(old[field], m.Object[field], []string{field}, func(path []string, was, is any) {
				switch at, stay := (mark{of: m, path: path, value: is}), (mark{of: m, path: path, value: was}); {
				case at.on(now):
					follows = &at
				case stay.on(now) && !slices.Contains(chosenOnce, path[len(path)-1]):
					stays = append(stays, lag{stay, is})
				}
			})
		}
	}
	return follows, stays
}

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
