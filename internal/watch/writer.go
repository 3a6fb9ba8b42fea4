package watch

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// set is what one manager owns, from some field on: a part of fieldsV1.
type set struct {
	name   string
	at     time.Time
	fields map[string]any
}

// below are the sets of what is within a field, by its name in fieldsV1.
func below(sets []set, key string) (out []set) {
	for _, s := range sets {
		if f, ok := s.fields[key].(map[string]any); ok {
			out = append(out, set{s.name, s.at, f})
		}
	}
	return out
}

// owned are the sets of a version.
func (o *Version) owned() (out []set) {
	for _, m := range o.ManagedFields {
		var f map[string]any
		if m.FieldsV1 != nil && json.Unmarshal(m.FieldsV1.GetRawBytes(), &f) == nil {
			out = append(out, set{m.Manager, m.Time.Time, f})
		}
	}
	return out
}

// keyed is how the managers tell the entries of a list apart: nil where it is one value.
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

// item is an entry of a list, told from others by some of its fields.
type item struct {
	key   string // as fieldsV1 has it
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

// writer is who made a change: the manager that has what differs; of several the one that
// wrote last. Where nobody has it, as it was taken away, it is whose entry is newer than
// it was. It is "" where that cannot be known.
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

// newest is the manager that wrote last, of some that have a field; "" for none.
func newest(sets []set) string {
	who, at := "", time.Time{}
	for _, s := range sets {
		if who == "" || s.at.After(at) {
			who, at = s.name, s.at
		}
	}
	return who
}

// maker is who made an object: the manager that wrote to it when it came to be.
func (o *Version) maker() string {
	for _, m := range o.ManagedFields {
		if m.Subresource == "" && !m.Time.After(o.CreationTimestamp.Time.Add(time.Second)) {
			return m.Manager
		}
	}
	return ""
}

// hands are managers that are people's: what they do they do by hand, or by a script that
// they began by hand.
var hands = []string{"kubectl", "oc", "helm", "k9s", "lens", "node-fetch", "Mozilla", "curl", "Wget", "Headlamp",
	"dashboard", "kustomize", "before-first-apply"}

// byHand reports whether a manager is a person's.
func byHand(manager string) bool {
	return slices.ContainsFunc(hands, func(h string) bool {
		return manager == h || strings.HasPrefix(manager, "kubectl-") || strings.HasPrefix(manager, h+"/")
	})
}

// somebody names a writer that is perhaps not known.
func somebody(who string) string {
	if who == "" {
		return "(unknown)"
	}
	return who
}
