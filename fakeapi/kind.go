package fakeapi

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/custom"
	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Kind is one row of the table of served kinds.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string   // plural: "pods"
	Singular   string   // "pod"
	ShortNames []string // "po"
	Categories []string // "all"
	Namespaced bool
	New        func() runtime.Object // an empty object of the Go type
	NewList    func() runtime.Object

	// Default fills in defaults on create and update, as the API's conversion does.
	Default func(obj runtime.Object)
	// OrphanByDefault: a delete without a policy orphans (GCPOLICY-1, GCPOLICY-2).
	OrphanByDefault bool
	// Status says whether the kind has a status subresource.
	Status bool
	// ReturnDeleted: the response to a delete is the object, not a Status.
	ReturnDeleted bool
	// MustVersion: an update must have a resourceVersion.
	MustVersion bool
	// CreateOnUpdate: an update of an object that does not exist creates it.
	CreateOnUpdate bool

	row      *registry.Row // what differs between kinds
	ordinal  int           // index of the kind's table in a server
	stored   *Kind         // the stored kind if this is another version of it; nil otherwise
	managers fieldmanager.Managers

	custom   *custom.Resource // set for the kinds of CRDs
	ask      conversion.Ask   // converts its objects; nil if no converter is needed
	far      func() bool      // with ask: reports whether the conversion needs a network call
	versions []*Kind          // of the stored version of a CRD: all served versions
}

func newKind(r *registry.Row, ordinal int) *Kind {
	return &Kind{
		GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
		Namespaced: r.Namespaced, New: r.New, NewList: r.NewList,
		Default: r.Default, OrphanByDefault: r.OrphanByDefault, Status: r.Status, ReturnDeleted: r.ReturnDeleted,
		MustVersion: r.MustVersion, CreateOnUpdate: r.CreateOnUpdate,
		row: r, ordinal: ordinal,
	}
}

// GVR returns the kind's group, version and resource.
func (k *Kind) GVR() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Resource)
}

func (k *Kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}
}

// Deprecation returns the warning for every request for a deprecated built-in kind, or "".
func (k *Kind) Deprecation() string { return k.row.Deprecated }

// Inert describes the effects that a built-in kind's objects have in a real cluster and never have here, or returns "".
// It does not include the work of controllers.
func (k *Kind) Inert() string {
	if k.custom != nil {
		return ""
	}
	return k.row.Inert()
}

// Definition returns the CRD of a custom kind and its version, both owned by the server; nil for built-in kinds.
func (k *Kind) Definition() (*apiextensionsv1.CustomResourceDefinition,
	*apiextensionsv1.CustomResourceDefinitionVersion) {
	if k.custom == nil {
		return nil, nil
	}
	return k.custom.Definition, k.custom.Version
}

// Prune drops unknown fields, and nulls that the schema does not allow, from an object of a custom kind. It returns the
// paths of unknown fields. The error is about malformed metadata.
func (k *Kind) Prune(u *unstructured.Unstructured) (unknown []string, err error) {
	return k.custom.Prune(u, true)
}

// Serves reports whether the kind has the subresource; "" is the kind itself.
func (k *Kind) Serves(subresource string) bool {
	switch subresource {
	case "scale":
		return k.row.Scale != nil
	case "eviction", "binding":
		return k.row.Grace != nil
	}
	return k.row.Way(subresource) != nil
}

func (k *Kind) key(namespace, name string) string {
	if k.Namespaced {
		return namespace + "/" + name
	}
	return name
}

// Stored returns the kind in its storage version, which may be k itself.
func (k *Kind) Stored() *Kind {
	if k.stored == nil {
		return k
	}
	return k.stored
}

func (k *Kind) manager(subresource string) *managedfields.FieldManager {
	if k.custom != nil {
		return k.managers.Of(k.row, &fieldmanager.Custom{Types: k.custom.Merge, Ask: k.ask,
			Default: func(obj runtime.Object) { k.custom.SetDefaults(obj.(*unstructured.Unstructured)) }}, subresource)
	}
	return k.managers.Of(k.row, nil, subresource)
}

// scales is the kind of the objects in requests to the scale subresource. It has no resource of its own.
var scales = newKind(registry.Scales, 0)

func (k *Kind) scaleOf(obj runtime.Object) *autoscalingv1.Scale {
	m := metadata.Of(obj)
	want, have, selector := k.row.Scale.Read(obj)
	return &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: scales.GVK.Kind, APIVersion: scales.GVK.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
			ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp()},
		Spec:   autoscalingv1.ScaleSpec{Replicas: want},
		Status: autoscalingv1.ScaleStatus{Replicas: have, Selector: selector},
	}
}

// The kinds of objects posted to pods/eviction and pods/binding.
var (
	evictions = newKind(registry.Evictions, 0)
	bindings  = newKind(registry.Bindings, 0)
)

// BodyKind returns the kind of the objects in requests to a subresource.
func (k *Kind) BodyKind(subresource string) *Kind {
	switch {
	case subresource == "scale" && k.row.Scale != nil:
		return scales
	case subresource == "eviction":
		return evictions
	case subresource == "binding":
		return bindings
	}
	return k
}
