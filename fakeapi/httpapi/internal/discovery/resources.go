// Package discovery describes the resources of the real server and of CRDs to clients.
package discovery

import (
	_ "embed"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resourceText lists what the real server v1.36 serves by default, in the
// order of its discovery: a group and version, below it its resources (plural,
// kind, scope, singular, verbs, short names, categories), below those their
// subresources (name, kind, verbs). "all" are the eight verbs.
//
//go:embed resources.txt
var resourceText string

// Resource is a resource or a subresource.
type Resource struct {
	Name       string // plural, or the name of the subresource
	Kind       schema.GroupVersionKind
	Sub        []Resource
	singular   string
	namespaced bool
	verbs      []string
	short      []string
	categories []string
	hash       string // of the storage version; "" for what nothing is stored of
}

// GroupVersion is one version of a group and its resources.
type GroupVersion struct {
	schema.GroupVersion
	Resources []Resource
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// real holds the resources of the real server; see [resourceText].
var real = parseResources(resourceText)

func parseResources(text string) (all []GroupVersion) {
	for line := range strings.Lines(text) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		words := strings.Fields(line)
		if depth == 0 {
			gv, err := schema.ParseGroupVersion(words[0])
			if err != nil {
				panic("httpapi: the list of resources: " + err.Error())
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
			namespaced: r.namespaced, verbs: strings.Split(words[2], ",")})
	}
	return all
}

func parseResource(gv schema.GroupVersion, words []string) Resource {
	r := Resource{Name: words[0], Kind: gv.WithKind(words[1]), namespaced: words[2] == "namespaced", singular: words[3],
		verbs: allVerbs}
	if words[4] != "all" {
		r.verbs = strings.Split(words[4], ",")
	}
	for _, w := range words[5:] {
		switch key, list, _ := strings.Cut(w, "="); key {
		case "short":
			r.short = strings.Split(list, ",")
		case "in":
			r.categories = strings.Split(list, ",")
		}
	}
	if len(r.verbs) > 2 {
		r.hash = storageHash(r.Kind)
	}
	return r
}

// parseKind reads KIND, or KIND@GROUP/VERSION when that differs from the resource's.
func parseKind(gv schema.GroupVersion, word string) schema.GroupVersionKind {
	kind, other, ok := strings.Cut(word, "@")
	if ok {
		gv, _ = schema.ParseGroupVersion(other)
	}
	return gv.WithKind(kind)
}

// Has says whether the real server has the group and version.
func Has(gv schema.GroupVersion) bool {
	for i := range real {
		if real[i].GroupVersion == gv {
			return true
		}
	}
	return false
}

// Find returns a resource or subresource of the real server, or nil.
func Find(gvr schema.GroupVersionResource, subresource string) *Resource {
	for i := range real {
		if real[i].GroupVersion != gvr.GroupVersion() {
			continue
		}
		r := named(real[i].Resources, gvr.Resource)
		if r == nil || subresource == "" {
			return r
		}
		return named(r.Sub, subresource)
	}
	return nil
}

// Deletes says whether a collection of the resource can be deleted. All of a defined kind can.
func Deletes(gvr schema.GroupVersionResource) bool {
	r := Find(gvr, "")
	return r == nil || slices.Contains(r.verbs, "deletecollection")
}

func named(list []Resource, name string) *Resource {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
