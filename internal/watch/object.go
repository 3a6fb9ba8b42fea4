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

// String formats it as kubectl does: "deployments.apps".
func (k *Kind) String() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}

// apiVersion returns the apiVersion of its objects.
func (k *Kind) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// place identifies an object without its uid.
type place struct{ group, kind, namespace, name string }

// Version is the relevant part of one version of an object. It is a runtime.Object, so client-go's lists can hold it.
type Version struct {
	metav1.PartialObjectMetadata // without its type; once stored, managed fields hold only who wrote when

	of   *Kind
	body []byte // all but metadata and ignored fields, as JSON; nil if not kept
	sum  uint64 // of the body

	selector labels.Selector // of a controller's object, or nil
	wants    int             // the wanted number of selected objects; -1 if it has none
	waits    []string        // of a terminating namespace: what it waits for
	node     string          // of a pod
	ended    bool            // of a pod: it has ended
}

var seed = maphash.MakeSeed()

// Parse reads an object from a list or a watch. It keeps no part of the map.
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

// reports reports whether several writers report the state of a kind, which is not a fight. A kubelet and the node
// controller may disagree about a node.
func (k *Kind) reports() bool { return k.Group == "" && (k.Kind == "Node" || k.Kind == "Pod") }

func (k *Kind) secret() bool { return k.Group == "" && k.Kind == "Secret" }

// concealed replaces the values of a Secret's data by digests.
func concealed(data any) map[string]any {
	values, _ := data.(map[string]any)
	out := make(map[string]any, len(values))
	for k, v := range values {
		out[k] = "(secret " + short(sumOf(text(v))) + ")"
	}
	return out
}

func (o *Version) place() place { return place{o.of.Group, o.of.Kind, o.Namespace, o.Name} }

// ref formats the object for pages.
func (o *Version) ref() string {
	return sim.Ref{Kind: o.of.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

// controller returns its ControllerRef, or nil.
func (o *Version) controller() *metav1.OwnerReference { return metav1.GetControllerOfNoCopy(o) }

// terminating reports whether it was deleted and still exists.
func (o *Version) terminating() bool { return o != nil && o.DeletionTimestamp != nil }
