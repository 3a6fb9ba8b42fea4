package controllerruntime

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// mapper is a RESTMapper for the kinds that the server serves now.
type mapper struct {
	p     *process
	asked int // number of calls of RESTMapping, for wakesOwner
}

// RESTMapping returns the resource of a kind. In a process without an Env, no server is known, so RESTMapping guesses
// the resource.
func (m *mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked++
	if m.p.env == nil {
		guess := gk.WithVersion("v1")
		if len(versions) > 0 {
			guess = gk.WithVersion(versions[0])
		}
		resource, _ := meta.UnsafeGuessKindToResource(guess)
		return &meta.RESTMapping{Resource: resource, GroupVersionKind: guess, Scope: meta.RESTScopeNamespace}, nil
	}
	for _, version := range append(versions, "") {
		for _, k := range m.p.env.Served() {
			if k.GVK.Group != gk.Group || k.GVK.Version != version && (version != "" || len(versions) > 0) {
				continue
			}
			switch gk.Kind {
			case k.GVK.Kind:
				return &meta.RESTMapping{Resource: k.GVR(), GroupVersionKind: k.GVK, Scope: scopeOf(k)}, nil
			case k.GVK.Kind + "List":
				lists, _ := meta.UnsafeGuessKindToResource(listOf(k))
				return &meta.RESTMapping{Resource: lists, GroupVersionKind: listOf(k), Scope: scopeOf(k)}, nil
			}
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
}

func (m *mapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return m.all().RESTMappings(gk, versions...)
}

func (m *mapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return m.all().KindFor(r)
}

func (m *mapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return m.all().KindsFor(r)
}

func (m *mapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return m.all().ResourceFor(r)
}

func (m *mapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return m.all().ResourcesFor(r)
}

func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	return m.all().ResourceSingularizer(resource)
}

// all returns apimachinery's mapper of all served kinds. It is rarely needed.
func (m *mapper) all() meta.RESTMapper {
	all := meta.NewDefaultRESTMapper(nil)
	if m.p.env == nil {
		return all
	}
	for _, k := range m.p.env.Served() {
		all.AddSpecific(k.GVK, k.GVR(), k.GVR().GroupVersion().WithResource(k.Singular), scopeOf(k))
		all.Add(listOf(k), scopeOf(k))
	}
	return all
}

func scopeOf(k *fakeapi.Kind) meta.RESTScope {
	if k.Namespaced {
		return meta.RESTScopeNamespace
	}
	return meta.RESTScopeRoot
}

// listOf returns the kind of a kind's lists, such as PodList. client-go's discovery mapper also has such kinds.
func listOf(k *fakeapi.Kind) schema.GroupVersionKind {
	return k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List")
}
