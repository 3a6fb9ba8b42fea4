package watch

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// set is a part of one manager's fieldsV1, from some field on.
type set struct {
	name   string
	at     time.Time
	fields map[string]any
}

// below returns the sets within a field, by its name in fieldsV1.
func below(sets []set, key string) (out []set) {
	for _, s := range sets {
		if f, ok := s.fields[key].(map[string]any); ok {
			out = append(out, set{s.name, s.at, f})
		}
	}
	return out
}

// owned returns the sets of a version.
func (o *Version) owned() (out []set) {
	for _, m := range o.ManagedFields {
		var f map[string]any
		if m.FieldsV1 != nil && json.Unmarshal(m.FieldsV1.GetRawBytes(), &f) == nil {
			out = append(out, set{m.Manager, m.Time.Time, f})
		}
	}
	return out
}

// keyed returns how the managers identify the entries of a list; nil if the list is one value.
func keyed(sets []set) []string {
	for _, s := range sets {
		for k := range s.fields {
			var of map[string]any
			if key, ok := strings.CutPrefix(k, "k:"); ok && json.Unmarshal([]byte(key), &of) == nil {
				names := make([]string, 0, len(of))
				for name := range of {
					names = append(names, name)
				}
				slices.Sort(names)
				return names
			}
		}
	}
	return nil
}

// item is an entry of a list, identified by some of its fields.
type item struct {
	key   string // in fieldsV1 form
	value any
}

func items(list any, by []string) (out []item, ok bool) {
	if list == nil {
		return nil, true
	}
	all, ok := list.([]any)
	if !ok {
		return nil, false
	}
	for _, v := range all {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		key := map[string]any{}
		for _, name := range by {
			if m[name] != nil {
				key[name] = m[name]
			}
		}
		b, _ := json.Marshal(key)
		out = append(out, item{"k:" + string(b), v})
	}
	return out, true
}

// writer returns who made a change: the manager of the differing fields, or of several the one that wrote last. If a
// field was removed, it is the manager whose timestamp is newer than before. It is "" if unknown.
func (c *change) writer() string {
	var all []set
	for _, l := range c.leaves {
		all = append(all, l.by...)
	}
	if len(all) > 0 {
		return newest(all)
	}
	who, at := "", time.Time{}
	for _, m := range c.new.ManagedFields {
		if m.Time.After(at) && !slices.ContainsFunc(c.old.ManagedFields, func(w metav1.ManagedFieldsEntry) bool {
			return w.Manager == m.Manager && w.Subresource == m.Subresource && !w.Time.Time.Before(m.Time.Time)
		}) {
			who, at = m.Manager, m.Time.Time
		}
	}
	return who
}

// newest returns the manager that wrote last among those of a field; "" for none.
func newest(sets []set) string {
	who, at := "", time.Time{}
	for _, s := range sets {
		if who == "" || s.at.After(at) {
			who, at = s.name, s.at
		}
	}
	return who
}

// maker returns who created an object: the manager that wrote it first.
func (o *Version) maker() string {
	for _, m := range o.ManagedFields {
		if m.Subresource == "" && !m.Time.After(o.CreationTimestamp.Time.Add(time.Second)) {
			return m.Manager
		}
	}
	return ""
}

// hands are managers that people use, directly or in a script.
var hands = []string{"kubectl", "oc", "helm", "k9s", "lens", "node-fetch", "Mozilla", "curl", "Wget", "Headlamp",
	"dashboard", "kustomize", "before-first-apply"}

// byHand reports whether a person uses a manager.
func byHand(manager string) bool {
	return slices.ContainsFunc(hands, func(h string) bool {
		return manager == h || strings.HasPrefix(manager, "kubectl-") || strings.HasPrefix(manager, h+"/")
	})
}

// somebody names a writer that may be unknown.
func somebody(who string) string {
	if who == "" {
		return "(unknown)"
	}
	return who
}
