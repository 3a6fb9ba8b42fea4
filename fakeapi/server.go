package fakeapi

import (
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
	"github.com/threelaws/threelaws/internal/nearest"
)

// Options configure a server. Simulations use the zero value.
type Options struct {
	// Name returns the n-th name (from 1) for a generateName prefix. By default, "web-" becomes "web-1".
	Name func(prefix string, n int) string
	// ManagedFields makes the server maintain managedFields in all objects. By default, an object has managedFields
	// only after its first server-side apply. Its earlier writes then belong to the manager "before-first-apply".
	ManagedFields bool
	// DropControllerRefs removes the field controller of owner references on every write, as before that field existed.
	DropControllerRefs bool
	// Start selects initial objects.
	Start Start
	// Authorize, if set, enables the plugin OwnerReferencesPermissionEnforcement. A user who changes the owners of an
	// existing object must be allowed to delete the object. A user who sets blockOwnerDeletion must be allowed to
	// update the finalizers of the owner. The result must depend only on the argument.
	Authorize func(Access) (allowed bool, reason string)
	// Convert contains functions that replace the conversion webhooks of CRDs. Without a function and without
	// [Server.SetCaller], objects of a CRD with such a webhook can be used only in the storage version.
	Convert map[schema.GroupKind]Convert
	// WithoutPlugins are the admission plugins to switch off; see [Plugins].
	WithoutPlugins []string
	// Unlimited allows objects of any size. By default, 1.5 MiB is the limit, as in etcd.
	Unlimited bool
	// Webhooks contains functions that replace admission webhooks, by webhook name. The result must depend only on the
	// argument. Without a function and without [Server.SetCaller], the call fails. The failure policy then decides.
	Webhooks map[string]func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
	// WebhooksLater disables webhooks without a function in Webhooks until [Server.SetCaller] is called.
	WebhooksLater bool
}

// Server is the API server. It is not safe for concurrent use, but a server and its forks may be used concurrently.
type Server struct {
	opts   Options
	kinds  []*Kind // the served kinds
	single []*Kind // one version of each kind; see [Server.Kinds]
	born   int     // the revision after the last [Server.Restore], or 0; keeps new UIDs different from restored ones
	dry    int     // number of dry-run creates
	missed string  // the last argument for which KindNamed returned nil

	caller  *webhook.Caller // calls webhooks over the network; may be nil
	calls   int             // number of webhook calls during requests
	reviews int             // number of UIDs made for AdmissionReviews and ConversionReviews

	unserved []string // see [Server.Unserved]
	store
}

func (s *Server) plugged(plugin string) bool {
	return len(s.opts.WithoutPlugins) == 0 || !slices.Contains(s.opts.WithoutPlugins, plugin)
}

// Kinds returns one version of each kind, in a fixed order. This is the storage version. If that is not served, it is
// the first served version.
func (s *Server) Kinds() []*Kind { return s.single[:len(s.single):len(s.single)] }

// Served returns every kind in each of its served versions.
func (s *Server) Served() []*Kind { return s.kinds[:len(s.kinds):len(s.kinds)] }

// Kind returns the kind with a GroupVersionKind; nil if it is not served.
func (s *Server) Kind(gvk schema.GroupVersionKind) *Kind {
	for _, k := range s.kinds {
		if k.GVK == gvk {
			return k
		}
	}
	return nil
}

// current returns k, or the kind that replaced k when its CRD changed; nil if there is none.
func (s *Server) current(k *Kind) *Kind {
	switch {
	case k == nil:
		return nil
	case k.ordinal < len(s.tables) &&
		(s.tables[k.ordinal].kind == k || k.stored != nil && s.tables[k.ordinal].kind == k.stored):
		return k
	case k.custom != nil:
		return s.Kind(k.GVK)
	}
	return nil
}

// NearestKind returns the name of the kind that is most similar to typed; "" if none is similar.
func (s *Server) NearestKind(typed string) string {
	var kinds, words []string
	for _, k := range s.kinds {
		kinds = append(kinds, k.GVK.Kind)
		words = append(words, k.GVK.Kind, k.Resource)
	}
	if n := nearest.Word(typed, kinds); n != "" {
		return n
	}
	return nearest.Word(typed, words)
}

// KindOf returns the kind of an object; nil if it is not served. Objects of built-in Go types need no TypeMeta.
func (s *Server) KindOf(obj runtime.Object) *Kind {
	if obj == nil {
		return nil
	}
	if k := builtinTypes[reflect.TypeOf(obj)]; k != nil {
		return k
	}
	return s.Kind(obj.GetObjectKind().GroupVersionKind())
}

// KindNamed finds a kind by its kind, resource, singular or short name, in upper or lower case: "deploy" or
// "Deployments.apps". It returns nil if there is none.
func (s *Server) KindNamed(typed string) *Kind {
	name, group, grouped := strings.Cut(strings.ToLower(typed), ".")
	for _, k := range s.kinds {
		if grouped && group != k.GVK.Group {
			continue
		}
		if name == k.Resource || name == k.Singular || name == strings.ToLower(k.GVK.Kind) ||
			slices.Contains(k.ShortNames, name) {
			return k
		}
	}
	s.missed = typed
	return nil
}

// Version returns the latest revision.
func (s *Server) Version() uint64 { return s.version }

// Lookup returns a stored object; nil if it does not exist.
func (s *Server) Lookup(k *Kind, namespace, name string) runtime.Object {
	if e := s.lookup(s.tables[k.ordinal], namespace, name); e != nil {
		return s.shown(k, e.obj)
	}
	return nil
}

// Existed reports whether an object is stored or was deleted.
func (s *Server) Existed(k *Kind, namespace, name string) bool {
	return s.Lookup(k, namespace, name) != nil || s.tables[k.ordinal].gone(k.key(namespace, name)) > 0
}

// Each calls f for every stored object of a kind, in key order, until f returns false.
func (s *Server) Each(k *Kind, f func(obj runtime.Object) bool) {
	s.tables[k.ordinal].objects.Ascend(func(e *entry) bool { return f(s.shown(k, e.obj)) })
}

// EachIn is like [Server.Each], for the objects in one namespace.
func (s *Server) EachIn(k *Kind, namespace string, f func(obj runtime.Object) bool) {
	s.tables[k.ordinal].each(namespace, func(e *entry) bool { return f(s.shown(k, e.obj)) })
}

// EachOwned calls f for the stored objects of a kind with this owner, in key order, until f returns false.
func (s *Server) EachOwned(k *Kind, owner types.UID, f func(obj runtime.Object) bool) {
	s.eachOwned(s.tables[k.ordinal], owner, func(e *entry) bool { return f(s.shown(k, e.obj)) })
}

// Len returns the number of stored objects of a kind.
func (s *Server) Len(k *Kind) int { return s.tables[k.ordinal].objects.Len() }

// Fork returns an independent copy of a server, in constant time. Both share the stored objects, which never change.
func (s *Server) Fork() *Server {
	f := *s
	f.tables = append([]*table(nil), s.tables...)
	s.token, f.token = new(token), new(token)
	f.text, f.pivot = nil, entry{}
	return &f
}

// Unserved returns the requested paths that this server does not serve, in the order of the first requests, each once. It
// leaves out the paths of objects and of their kinds.
func (s *Server) Unserved() []string { return slices.Clone(s.unserved) }

// NoteUnserved adds a path to [Server.Unserved].
func (s *Server) NoteUnserved(path string) {
	if !slices.Contains(s.unserved, path) {
		s.unserved = append(s.unserved[:len(s.unserved):len(s.unserved)], path)
	}
}

// SetDropControllerRefs sets [Options].DropControllerRefs.
func (s *Server) SetDropControllerRefs(on bool) { s.opts.DropControllerRefs = on }

// Access describes a user's request, for [Options].Authorize. "*" in a field stands for any value.
type Access struct {
	User                  string
	Verb, Group, Version  string
	Resource, Subresource string
	Namespace, Name       string
}

// Convert converts an object of a CRD to another version, in place of a conversion webhook. It may change obj. The
// result must depend only on the arguments. In the metadata, only labels and annotations may change.
type Convert func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
