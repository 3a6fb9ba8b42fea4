package fakeapi

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/threelaws/threelaws/fakeapi/internal/custom"
	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Kind is a kind in one version, such as Deployment in apps/v1.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string   // plural, such as "pods"
	Singular   string   // such as "pod"
	ShortNames []string // such as "po"
	Categories []string // such as "all"
	Namespaced bool
	New        func() runtime.Object // returns an empty object of the Go type
	NewList    func() runtime.Object

	// Default sets defaults on create and update. The real server does this when it decodes an object.
	Default func(obj runtime.Object)
	// OrphanByDefault is set if a delete without a policy orphans dependents (GCPOLICY-1, GCPOLICY-2).
	OrphanByDefault bool
	// Status is set if the kind has a status subresource.
	Status bool
	// ReturnDeleted is set if the response to a delete is the object, not a Status.
	ReturnDeleted bool
	// MustVersion is set if an update must have a resourceVersion.
	MustVersion bool
	// CreateOnUpdate is set if an update creates a missing object.
	CreateOnUpdate bool

	row      *registry.Row // the rules of the kind, such as its validation
	ordinal  int           // index of the kind's table in a server
	stored   *Kind         // the kind in its storage version; nil if this Kind is that version
	managers fieldmanager.Managers

	custom   *custom.Resource // the kind's version in its CRD; nil for a built-in kind
	hooked   bool             // the CRD has a conversion webhook
	versions []*Kind          // all served versions; set only in the storage version of a CRD
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

// Deprecation returns the warning for all requests for a deprecated built-in kind; "" for other kinds.
func (k *Kind) Deprecation() string { return k.row.Deprecated }

// Inert describes the effects that objects of a built-in kind have in a real cluster but not here; "" if there are
// none. It does not mention the work of controllers.
func (k *Kind) Inert() string {
	if k.custom != nil {
		return ""
	}
	return k.row.Inert()
}

// Definition returns the CRD of a custom kind, and the kind's version in the CRD, both read-only; nil for other kinds.
func (k *Kind) Definition() (*apiextensionsv1.CustomResourceDefinition,
	*apiextensionsv1.CustomResourceDefinitionVersion) {
	if k.custom == nil {
		return nil, nil
	}
	return k.custom.Definition, k.custom.Version
}

// Hooked reports whether the kind's CRD has a conversion webhook.
func (k *Kind) Hooked() bool { return k.hooked }

// Prune removes unknown fields from a custom object, and null values that the schema does not allow. It returns the
// paths of the unknown fields, or an error for malformed metadata.
func (k *Kind) Prune(u *unstructured.Unstructured) (unknown []string, err error) {
	return k.custom.Prune(u, true)
}

// Serves reports whether the kind has this subresource; "" is the main resource.
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

// Stored returns the kind in its storage version. This may be k itself.
func (k *Kind) Stored() *Kind {
	if k.stored == nil {
		return k
	}
	return k.stored
}

// manager returns the field manager of a kind. Servers share it, except if it calls a conversion webhook.
func (s *Server) manager(k *Kind, subresource string) *managedfields.FieldManager {
	if k.custom == nil {
		return k.managers.Of(k.row, nil, subresource)
	}
	managers := &k.managers
	if k.hooked {
		managers = &fieldmanager.Managers{}
	}
	return managers.Of(k.row, &fieldmanager.Custom{Types: k.custom.Merge, Ask: s.asker(k),
		Default: func(obj runtime.Object) { k.custom.SetDefaults(obj.(*unstructured.Unstructured)) }}, subresource)
}

// scales is the kind of the objects in requests to scale subresources. No table stores such objects.
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
