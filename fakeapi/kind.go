package fakeapi

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/custom"
	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Kind is one row of the table of kinds that a server serves.
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
	// OrphanByDefault: a delete that names no policy orphans (GCPOLICY-1, GCPOLICY-2).
	OrphanByDefault bool
	// Status says whether the kind has a status subresource.
	Status bool
	// ReturnDeleted: a delete answers with the object, not with a Status.
	ReturnDeleted bool
	// MustVersion: an update has to say which resourceVersion it is based on.
	MustVersion bool
	// CreateOnUpdate: an update of an object that does not exist creates it.
	CreateOnUpdate bool

	row      *registry.Kind // what differs between kinds
	ordinal  int            // index of the kind's table in a server
	stored   *Kind          // the kind that is stored, of which this is another version; nil: this one
	managers fieldmanager.Managers

	custom   *custom.Resource // of kinds that a definition defines
	ask      conversion.Ask   // who converts its objects, when somebody has to be asked
	far      func() bool      // with ask: it is a webhook that is called
	versions []*Kind          // of the stored version of a definition: all versions that are served
}

// newKind makes a kind of its row.
func newKind(r *registry.Kind, ordinal int) *Kind {
	return &Kind{
		GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
		Namespaced: r.Namespaced, New: r.New, NewList: r.NewList,
		Default: r.Default, OrphanByDefault: r.OrphanByDefault, Status: r.Status, ReturnDeleted: r.ReturnDeleted,
		MustVersion: r.MustVersion, CreateOnUpdate: r.CreateOnUpdate,
		row: r, ordinal: ordinal,
	}
}

// GVR is the kind's group, version and resource.
func (k *Kind) GVR() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Resource)
}

func (k *Kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}
}

// Deprecation is what every request for a built-in kind on its way out is
// warned of; "" for all others.
func (k *Kind) Deprecation() string { return k.row.Deprecated }

// Inert says what objects of a built-in kind would do in a cluster and do not here:
// "no policy is evaluated". It is "" where they do it, or what does it is a controller.
func (k *Kind) Inert() string {
	if k.custom != nil {
		return ""
	}
	return k.row.Inert()
}

// Definition returns the definition of a custom kind and the version of it
// that the kind is; nil for built-in kinds. Both belong to the server.
func (k *Kind) Definition() (*apiextensionsv1.CustomResourceDefinition,
	*apiextensionsv1.CustomResourceDefinitionVersion) {
	if k.custom == nil {
		return nil, nil
	}
	return k.custom.Definition, k.custom.Version
}

// Prune brings an object of a custom kind into the form that decoding gives
// built-in kinds: what its schema does not know, and nulls that it does not
// allow, are dropped. It returns the paths of the fields that are not known,
// and an error when the metadata is not of the right form.
func (k *Kind) Prune(u *unstructured.Unstructured) (unknown []string, err error) {
	return k.custom.Prune(u, true)
}

// Serves says whether the kind has the subresource; "" is the kind itself.
func (k *Kind) Serves(subresource string) bool {
	switch subresource {
	case "scale":
		return k.row.Scale != nil
	case "eviction", "binding":
		return k.row.Grace != nil
	}
	return k.row.Way(subresource) != nil
}

// key is the place of an object in its kind's table.
func (k *Kind) key(namespace, name string) string {
	if k.Namespaced {
		return namespace + "/" + name
	}
	return name
}

// Stored is the kind as its objects are stored: k itself, unless k is a further
// version of it.
func (k *Kind) Stored() *Kind {
	if k.stored == nil {
		return k
	}
	return k.stored
}

// Show returns a stored object in the kind's version: the object itself where that is
// its version already. The error is that of whoever converts objects of the kind.
func (k *Kind) Show(obj runtime.Object) (runtime.Object, error) { return k.show(obj) }

// manager is the field manager of a subresource.
func (k *Kind) manager(subresource string) *managedfields.FieldManager {
	if k.custom != nil {
		return k.managers.Of(k.row, &fieldmanager.Custom{Types: k.custom.Merge, Ask: k.ask,
			Default: func(obj runtime.Object) { k.custom.SetDefaults(obj.(*unstructured.Unstructured)) }}, subresource)
	}
	return k.managers.Of(k.row, nil, subresource)
}
