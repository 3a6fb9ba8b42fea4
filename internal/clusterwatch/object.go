package clusterwatch

import (
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// ServedKind is a kind that the server serves.
type ServedKind struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
}

// String formats the kind like kubectl: "deployments.apps".
func (k *ServedKind) String() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}

func (k *ServedKind) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

type place struct{ group, kind, namespace, name string }

// Version is the part of an object's version that the checks need. It implements runtime.Object for client-go's lists.
type Version struct {
	metav1.PartialObjectMetadata // without TypeMeta; ManagedFields of a stored version has only managers and times

	of   *ServedKind
	body []byte // JSON without metadata and ignored fields; nil if dropped
	sum  uint64 // a hash of the body

	selector labels.Selector // the selector, if the object has one
	wants    int             // the wanted number of selected objects; -1 if there is none
	waits    []string        // the reasons why a terminating namespace still exists
	node     string          // the node, if the object is a pod
	ended    bool            // the object is a pod that has ended
}

var seed = maphash.MakeSeed()

// Parse parses an object of a list or a watch. The result does not refer to the map.
func Parse(k *ServedKind, content map[string]any) (*Version, error) {
	v := &Version{of: k, wants: -1}
	meta, _ := content["metadata"].(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(meta, &v.ObjectMeta); err != nil {
		return nil, err
	}
	for i := range v.ManagedFields {
		if v.ManagedFields[i].Time == nil {
			v.ManagedFields[i].Time = &metav1.Time{}
		}
	}
	v.know(content)
	body := maps.Clone(content)
	for _, member := range []string{"metadata", "apiVersion", "kind"} {
		delete(body, member)
	}
	if k.reports() {
		delete(body, "status")
	}
	if k.secret() {
		body["data"] = concealed(body["data"])
	}
	var err error
	v.body, err = json.Marshal(body)
	v.sum = maphash.Bytes(seed, v.body)
	return v, err
}

// lighten saves memory: it drops fieldsV1 and, unless whole is set, the body. Only a comparison of versions needs them.
func (v *Version) lighten(whole bool) {
	for i := range v.ManagedFields {
		v.ManagedFields[i].FieldsV1 = nil
	}
	if !whole {
		v.body = nil
	}
}

// reports reports whether several programs write the status of this kind. If they disagree, it is not a fight. For
// example, a kubelet and the node controller may disagree about a node.
func (k *ServedKind) reports() bool { return k.Group == "" && (k.Kind == "Node" || k.Kind == "Pod") }

func (k *ServedKind) secret() bool { return k.Group == "" && k.Kind == "Secret" }

// concealed replaces the values of a Secret's data by hashes.
func concealed(data any) map[string]any {
	values, _ := data.(map[string]any)
	out := make(map[string]any, len(values))
	for k, v := range values {
		out[k] = "(secret " + short(sumOf(text(v))) + ")"
	}
	return out
}

func (o *Version) place() place { return place{o.of.Group, o.of.Kind, o.Namespace, o.Name} }

func (o *Version) ref() string {
	return sim.Ref{Kind: o.of.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

func (o *Version) controller() *metav1.OwnerReference { return metav1.GetControllerOfNoCopy(o) }

func (o *Version) terminating() bool { return o != nil && o.DeletionTimestamp != nil }

// set is a part of fieldsV1 of one entry in managedFields: the fields that the manager owns below some field.
type set struct {
	name   string
	at     time.Time
	fields map[string]any
}

// below returns what the sets contain below a field. key is the field's name in fieldsV1, such as "f:spec".
func below(sets []set, key string) (out []set) {
	for _, s := range sets {
		if f, ok := s.fields[key].(map[string]any); ok {
			out = append(out, set{s.name, s.at, f})
		}
	}
	return out
}

func (o *Version) owned() (out []set) {
	for _, m := range o.ManagedFields {
		var f map[string]any
		if m.FieldsV1 != nil && json.Unmarshal(m.FieldsV1.GetRawBytes(), &f) == nil {
			out = append(out, set{m.Manager, m.Time.Time, f})
		}
	}
	return out
}

// keyed returns the fields that identify a list's items in fieldsV1, such as "name"; nil if the items have no keys.
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

type item struct {
	key   string // `k:{"name":"web"}`, as in fieldsV1
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

// writer returns the last manager of a changed field, or "" if it is unknown. If fields were only removed, it returns
// the manager of the newest entry in managedFields that the old version does not have.
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

// newest returns the manager that wrote last, or "" for no sets.
func newest(sets []set) string {
	who, at := "", time.Time{}
	for _, s := range sets {
		if who == "" || s.at.After(at) {
			who, at = s.name, s.at
		}
	}
	return who
}

// maker returns the first manager in managedFields that wrote within a second of the creation; "" if there is none.
func (o *Version) maker() string {
	for _, m := range o.ManagedFields {
		if m.Subresource == "" && !m.Time.After(o.CreationTimestamp.Time.Add(time.Second)) {
			return m.Manager
		}
	}
	return ""
}

// hands lists the manager names of programs that people use, directly or in scripts.
var hands = []string{"kubectl", "oc", "helm", "k9s", "lens", "node-fetch", "Mozilla", "curl", "Wget", "Headlamp",
	"dashboard", "kustomize", "before-first-apply"}

// byHand reports whether a manager is a program that people use.
func byHand(manager string) bool {
	return slices.ContainsFunc(hands, func(h string) bool {
		return manager == h || strings.HasPrefix(manager, "kubectl-") || strings.HasPrefix(manager, h+"/")
	})
}

func somebody(who string) string {
	if who == "" {
		return "(unknown)"
	}
	return who
}
