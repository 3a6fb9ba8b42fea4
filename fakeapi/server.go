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
	// Name makes the n-th name (from 1) for a generateName prefix. By default, "web-" becomes "web-1".
	Name func(prefix string, n int) string
	// ManagedFields makes the server maintain metadata.managedFields of all objects. By default only applied objects
	// have them, and earlier writes count as writes from before server-side apply.
	ManagedFields bool
	// DropControllerRefs drops the controller field on every write, as an older cluster does.
	DropControllerRefs bool
	// Start selects the initial objects of the server.
	Start Start
	// Authorize, if set, enables the admission plugin OwnerReferencesPermissionEnforcement. To set owners, a user needs
	// delete; to block an owner's deletion, update on its finalizers. It must be a function of its argument.
	Authorize func(Access) (allowed bool, reason string)
	// Convert holds the conversion webhooks of CRDs, by group and kind. Without one, objects of a CRD with the Webhook
	// strategy exist only in the storage version.
	Convert map[schema.GroupKind]Convert
	// WithoutPlugins are the admission plugins that are switched off; [Plugins] names all.
	WithoutPlugins []string
	// Unlimited allows objects of any size. By default, objects above etcd's limit of 1.5 MiB are refused.
	Unlimited bool
	// Webhooks holds Go functions for admission webhooks, by their names in configurations. They must be functions of
	// their argument. The failure policy applies to a missing webhook.
	Webhooks map[string]func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
	// WebhooksLater skips webhooks without a Go function until [Server.SetCaller] is called.
	WebhooksLater bool
}

// Server is the API server. It is not safe for concurrent use, but a server and its forks may run concurrently.
type Server struct {
	opts   Options
	kinds  []*Kind // the served kinds
	single []*Kind // the kinds of the tables, one for each
	born   int     // added to each count of incarnations; see [Server.Restore]
	dry    int     // number of dry-run creates
	missed string  // the last name that KindNamed did not find

	caller  *webhook.Caller // calls webhooks; nil if nothing does
	calls   int             // number of webhook calls during requests
	reviews int             // number of reviews sent
	store
}

func (s *Server) plugged(plugin string) bool {
	return len(s.opts.WithoutPlugins) == 0 || !slices.Contains(s.opts.WithoutPlugins, plugin)
}

// Kinds lists the stored kinds in a fixed order. Each object belongs to one of these kinds.
func (s *Server) Kinds() []*Kind { return s.single[:len(s.single):len(s.single)] }

// Served lists the served kinds: [Server.Kinds] and their other versions.
func (s *Server) Served() []*Kind { return s.kinds[:len(s.kinds):len(s.kinds)] }

// Kind finds a kind by its GroupVersionKind. It returns nil if the kind is not served.
func (s *Server) Kind(gvk schema.GroupVersionKind) *Kind {
	for _, k := range s.kinds {
		if k.GVK == gvk {
			return k
		}
	}
	return nil
}

// current returns the kind that serves requests for k: k itself, or the same kind of a changed CRD. It returns nil if
// there is none.
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

// NearestKind returns the kind name closest to typed, or "".
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

// KindOf finds the kind of a typed object, even if its TypeMeta is not set.
func (s *Server) KindOf(obj runtime.Object) *Kind {
	if obj == nil {
		return nil
	}
	if k := builtinTypes[reflect.TypeOf(obj)]; k != nil {
		return k
	}
	return s.Kind(obj.GetObjectKind().GroupVersionKind())
}

// KindNamed finds a kind by kind, resource, singular or short name, in any case, with or without its group
// ("deployments.apps"). It returns nil if there is none.
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

// Lookup returns the stored version of an object, or nil.
func (s *Server) Lookup(k *Kind, namespace, name string) runtime.Object {
	if e := s.lookup(s.tables[k.ordinal], namespace, name); e != nil {
		return k.shown(e.obj)
	}
	return nil
}

// Each calls f for every stored object of a kind, in key order, until f returns false.
func (s *Server) Each(k *Kind, f func(obj runtime.Object) bool) {
	s.tables[k.ordinal].objects.Ascend(func(e *entry) bool { return f(k.shown(e.obj)) })
}

// EachIn is [Server.Each] for one namespace.
func (s *Server) EachIn(k *Kind, namespace string, f func(obj runtime.Object) bool) {
	s.tables[k.ordinal].each(namespace, func(e *entry) bool { return f(k.shown(e.obj)) })
}

// EachOwned calls f for every stored object of a kind that names the owner, in key order, until f returns false. Its
// cost does not depend on the number of other objects.
func (s *Server) EachOwned(k *Kind, owner types.UID, f func(obj runtime.Object) bool) {
	s.eachOwned(s.tables[k.ordinal], owner, func(e *entry) bool { return f(k.shown(e.obj)) })
}

// Len returns the number of stored objects of a kind.
func (s *Server) Len(k *Kind) int { return s.tables[k.ordinal].objects.Len() }

// Fork returns an independent server with the same contents, in constant time. It shares the immutable objects.
func (s *Server) Fork() *Server {
	f := *s
	f.tables = append([]*table(nil), s.tables...)
	s.token, f.token = new(token), new(token)
	f.text, f.pivot = nil, entry{}
	return &f
}

// SetDropControllerRefs switches the server between versions with and without ControllerRef; see [Options].
func (s *Server) SetDropControllerRefs(on bool) { s.opts.DropControllerRefs = on }

// Access describes a request of a user, which [Options].Authorize allows or refuses.
type Access struct {
	User                  string
	Verb, Group, Version  string // "*" means all of them
	Resource, Subresource string
	Namespace, Name       string
}

// Convert does the work of a CRD's conversion webhook. It owns obj and must be a function of its arguments. It may
// change only labels and annotations of the metadata.
type Convert func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
