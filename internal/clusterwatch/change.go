package clusterwatch

import (
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

type change struct {
	old, new *Version // nil if the object did not exist before, or does not exist now
	at       time.Time
	who      string // the manager that made the change; "" if unknown
	leaves   []leaf
}

type leaf struct {
	path    string
	was, is any   // nil if the field does not exist
	by      []set // the managers that own the field now
}

// unseen lists annotations that do not describe a desired state, but record an action.
var unseen = []string{"kubectl.kubernetes.io/last-applied-configuration"}

func compare(old, new *Version, at time.Time) *change {
	c := &change{old: old, new: new, at: at}
	var sets []set
	within := func(key string) []set {
		if sets == nil {
			sets = new.owned()
		}
		return below(below(sets, "f:metadata"), key)
	}
	if !maps.Equal(old.Labels, new.Labels) {
		c.differ("metadata.labels", tree(old.Labels), tree(new.Labels), within("f:labels"))
	}
	if !maps.Equal(old.Annotations, new.Annotations) {
		c.differ("metadata.annotations", tree(old.Annotations), tree(new.Annotations), within("f:annotations"))
	}
	if !slices.Equal(old.Finalizers, new.Finalizers) {
		c.leaf("metadata.finalizers", values(old.Finalizers), values(new.Finalizers), within("f:finalizers"))
	}
	if !sameOwners(old.OwnerReferences, new.OwnerReferences) {
		c.differ("metadata.ownerReferences", owners(old.OwnerReferences), owners(new.OwnerReferences),
			within("f:ownerReferences"))
	}
	if old.body != nil && new.body != nil && old.sum != new.sum {
		var a, b any
		if json.Unmarshal(old.body, &a) == nil && json.Unmarshal(new.body, &b) == nil {
			if sets == nil {
				sets = new.owned()
			}
			c.differ("", a, b, sets)
		}
	}
	c.who = c.writer()
	return c
}

func (c *change) differ(path string, a, b any, sets []set) {
	x, isMap := a.(map[string]any)
	y, areMaps := b.(map[string]any)
	if isMap && (areMaps || b == nil) || areMaps && a == nil {
		keys := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			c.differ(join(path, k), x[k], y[k], below(sets, "f:"+k))
		}
		return
	}
	if by := keyed(sets); by != nil {
		was, ok := items(a, by)
		is, are := items(b, by)
		if ok && are {
			c.items(path, was, is, sets)
			return
		}
	}
	c.leaf(path, a, b, sets)
}

func (c *change) items(path string, was, is []item, sets []set) {
	at := func(all []item, key string) any {
		if i := slices.IndexFunc(all, func(e item) bool { return e.key == key }); i >= 0 {
			return all[i].value
		}
		return nil
	}
	for _, e := range was {
		c.differ(path+"["+e.words()+"]", e.value, at(is, e.key), below(sets, e.key))
	}
	for _, e := range is {
		if at(was, e.key) == nil {
			c.differ(path+"["+e.words()+"]", nil, e.value, below(sets, e.key))
		}
	}
}

// words returns the values of an item's key: "web" for k:{"name":"web"}. Several values are joined by slashes.
func (e item) words() string {
	var key map[string]any
	_ = json.Unmarshal([]byte(strings.TrimPrefix(e.key, "k:")), &key)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(key)) {
		out = append(out, text(key[k]))
	}
	return strings.Join(out, "/")
}

// leaf records a field whose values differ. It ignores times, and kubectl's annotation last-applied-configuration.
func (c *change) leaf(path string, a, b any, sets []set) {
	if text(a) == text(b) || isTime(a) && isTime(b) || isTime(a) && b == nil || a == nil && isTime(b) {
		return
	}
	if slices.ContainsFunc(unseen, func(u string) bool { return strings.HasSuffix(path, "["+u+"]") }) {
		return
	}
	c.leaves = append(c.leaves, leaf{path, a, b, sets})
}

func (c *change) has(path string) bool {
	return slices.ContainsFunc(c.leaves, func(l leaf) bool { return strings.HasPrefix(l.path, path) })
}

// text formats a value: a string as it is, and other values as JSON, without times.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(timeless(v))
	return string(b)
}

func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = timeless(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = timeless(x)
		}
		return out
	}
	if isTime(v) {
		return "(time)"
	}
	return v
}

func isTime(v any) bool {
	s, ok := v.(string)
	if !ok || len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

func sumOf(s string) uint64 { return maphash.String(seed, s) }

func short(n uint64) string { return strconv.FormatUint(n, 36)[:6] }

func tree(m map[string]string) any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func values(all []string) any {
	out := make([]any, 0, len(all))
	for _, v := range all {
		out = append(out, v)
	}
	return out
}

func owners(all []metav1.OwnerReference) any {
	out := make([]any, 0, len(all))
	for _, r := range all {
		out = append(out, map[string]any{"uid": string(r.UID), "owner": sim.Short(r.Kind) + "/" + r.Name,
			"controller": r.Controller != nil && *r.Controller})
	}
	return out
}

func sameOwners(a, b []metav1.OwnerReference) bool { return text(owners(a)) == text(owners(b)) }

func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}
