package watch

import (
	"encoding/json"
	"hash/maphash"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// Kind is a kind of objects, as the server serves it.
type Kind struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
}

// String is how kubectl names it: "deployments.apps".
func (k *Kind) String() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}

// apiVersion is what its objects say of themselves.
func (k *Kind) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// place is where an object stands, whatever its uid.
type place struct{ group, kind, namespace, name string }

// Version is one version of an object, as far as it matters. It is a runtime.Object, so that
// client-go's lists can hold it.
type Version struct {
	metav1.PartialObjectMetadata // without its type; of managed fields only what says who wrote when, once it is stored

	of   *Kind
	body []byte // all but metadata and what is not looked at, as JSON; nil where it is not kept
	sum  uint64 // of the body

	selector labels.Selector // of a controller's object: what it selects; nil for none
	wants    int             // so many of them; -1 where it does not say
	waits    []string        // of a namespace that is ending: what it waits for
	node     string          // of a pod
	ended    bool            // of a pod: it runs no more
}

var seed = maphash.MakeSeed()

// Parse reads an object as a list or a watch has it. It keeps nothing of the map.
func Parse(k *Kind, content map[string]any) (*Version, error) {
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

// lighten drops what only a comparison with another version needs.
func (v *Version) lighten(whole bool) {
	for i := range v.ManagedFields {
		v.ManagedFields[i].FieldsV1 = nil
	}
	if !whole {
		v.body = nil
	}
}

// reports reports whether several report on the state of objects of a kind, which is no
// fight: a node is ready to its kubelet and not to who has not heard of it.
func (k *Kind) reports() bool { return k.Group == "" && (k.Kind == "Node" || k.Kind == "Pod") }

func (k *Kind) secret() bool { return k.Group == "" && k.Kind == "Secret" }

// concealed is a Secret's data with digests in place of the values.
func concealed(data any) map[string]any {
	values, _ := data.(map[string]any)
	out := make(map[string]any, len(values))
	for k, v := range values {
		out[k] = "(secret " + short(sumOf(text(v))) + ")"
	}
	return out
}

func (o *Version) place() place { return place{o.of.Group, o.of.Kind, o.Namespace, o.Name} }

// ref is the object as pages name it.
func (o *Version) ref() string {
	return sim.Ref{Kind: o.of.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

// controller is its ControllerRef, nil for none.
func (o *Version) controller() *metav1.OwnerReference { return metav1.GetControllerOfNoCopy(o) }

// terminating reports whether it was deleted and is still there.
func (o *Version) terminating() bool { return o != nil && o.DeletionTimestamp != nil }
