// Package resources contains the list of resources that the real server serves.
package resources

import (
	_ "embed"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// text lists the resources that the real server serves by default, in the order of its discovery. Each group and
// version is followed by its resources (plural, kind, scope, singular, verbs, short names, categories). Each resource
// is followed by its subresources (name, kind, verbs). The verb "all" stands for allVerbs.
//
//go:embed resources.txt
var text string

// Resource is a resource or a subresource.
type Resource struct {
	Name       string // plural, or the name of the subresource
	Kind       schema.GroupVersionKind
	Sub        []Resource
	Singular   string
	Namespaced bool
	Verbs      []string
	ShortNames []string
	Categories []string

	Custom         bool   // a CRD defines the resource
	StorageVersion string // of a custom resource; "" if this version is not served
}

// GroupVersion is one version of a group and its resources.
type GroupVersion struct {
	schema.GroupVersion
	Resources []Resource
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// All holds the resources of the real server. It must not be changed.
var All = parse(text)

func parse(text string) (all []GroupVersion) {
	for line := range strings.Lines(text) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		words := strings.Fields(line)
		if depth == 0 {
			gv, err := schema.ParseGroupVersion(words[0])
			if err != nil {
				panic("fakeapi: the list of resources: " + err.Error())
			}
			all = append(all, GroupVersion{GroupVersion: gv})
			continue
		}
		v := &all[len(all)-1]
		if depth == 2 {
			v.Resources = append(v.Resources, parseResource(v.GroupVersion, words))
			continue
		}
		r := &v.Resources[len(v.Resources)-1]
		r.Sub = append(r.Sub, Resource{Name: words[0], Kind: parseKind(v.GroupVersion, words[1]),
			Namespaced: r.Namespaced, Verbs: strings.Split(words[2], ",")})
	}
	return all
}

func parseResource(gv schema.GroupVersion, words []string) Resource {
	r := Resource{Name: words[0], Kind: gv.WithKind(words[1]), Namespaced: words[2] == "namespaced", Singular: words[3],
		Verbs: allVerbs}
	if words[4] != "all" {
		r.Verbs = strings.Split(words[4], ",")
	}
	for _, w := range words[5:] {
		switch key, list, _ := strings.Cut(w, "="); key {
		case "short":
			r.ShortNames = strings.Split(list, ",")
		case "in":
			r.Categories = strings.Split(list, ",")
		}
	}
	return r
}

// parseKind parses KIND, or KIND@GROUP/VERSION for a kind in another group or version than the resource.
func parseKind(gv schema.GroupVersion, word string) schema.GroupVersionKind {
	kind, other, ok := strings.Cut(word, "@")
	if ok {
		gv, _ = schema.ParseGroupVersion(other)
	}
	return gv.WithKind(kind)
}

// In returns the resources of a group and version, or nil if the real server has none.
func In(gv schema.GroupVersion) []Resource {
	i := slices.IndexFunc(All, func(v GroupVersion) bool { return v.GroupVersion == gv })
	if i < 0 {
		return nil
	}
	return All[i].Resources
}

// Find returns a resource or subresource of the real server, or nil.
func Find(gvr schema.GroupVersionResource, subresource string) *Resource {
	r := named(In(gvr.GroupVersion()), gvr.Resource)
	if r == nil || subresource == "" {
		return r
	}
	return named(r.Sub, subresource)
}

// OfKind returns the resource of a kind, or nil.
func OfKind(gvk schema.GroupVersionKind) *Resource {
	list := In(gvk.GroupVersion())
	for i := range list {
		if list[i].Kind == gvk {
			return &list[i]
		}
	}
	return nil
}

// Serves reports whether a resource has a subresource.
func (r *Resource) Serves(subresource string) bool { return named(r.Sub, subresource) != nil }

func named(list []Resource, name string) *Resource {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
