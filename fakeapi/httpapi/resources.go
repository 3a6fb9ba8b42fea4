package httpapi

import (
	_ "embed"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// resourceText lists what the real server v1.36 serves by default, in the
// order of its discovery: a group and version, below it its resources (plural,
// kind, scope, singular, verbs, short names, categories), below those their
// subresources (name, kind, verbs). "all" are the eight verbs.
//
//go:embed resources.txt
var resourceText string

// resource is one entry of discovery.
type resource struct {
	name       string // plural, or the name of the subresource
	kind       schema.GroupVersionKind
	singular   string
	namespaced bool
	verbs      []string
	short      []string
	categories []string
	hash       string // of the storage version
	sub        []resource
}

// groupVersion is one version of a group and its resources.
type groupVersion struct {
	gv        schema.GroupVersion
	resources []resource
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// real is what the real server serves; see [resourceText].
var real = parseResources(resourceText)

func parseResources(text string) (all []groupVersion) {
	for line := range strings.Lines(text) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		words := strings.Fields(line)
		if depth == 0 {
			gv, err := schema.ParseGroupVersion(words[0])
			if err != nil {
				panic("httpapi: the list of resources: " + err.Error())
			}
			all = append(all, groupVersion{gv: gv})
			continue
		}
		v := &all[len(all)-1]
		if depth == 2 {
			v.resources = append(v.resources, parseResource(v.gv, words))
			continue
		}
		r := &v.resources[len(v.resources)-1]
		r.sub = append(r.sub, resource{name: words[0], kind: parseKind(v.gv, words[1]), namespaced: r.namespaced, verbs: strings.Split(words[2], ",")})
	}
	return all
}

func parseResource(gv schema.GroupVersion, words []string) resource {
	r := resource{name: words[0], kind: gv.WithKind(words[1]), namespaced: words[2] == "namespaced", singular: words[3], verbs: allVerbs}
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
		r.hash = storageHash(r.kind)
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

// unmodelled finds a resource or subresource that the real server has and this
// one has not.
func unmodelled(t target) (*resource, bool) {
	for i := range real {
		if real[i].gv != t.gv {
			continue
		}
		for j := range real[i].resources {
			r := &real[i].resources[j]
			if r.name != t.resource {
				continue
			}
			if t.subresource == "" {
				return r, true
			}
			for s := range r.sub {
				if r.sub[s].name == t.subresource {
					return &r.sub[s], true
				}
			}
		}
	}
	return nil, false
}

// served is what discovery shows: all that the real server has, and the kinds
// that were defined here besides.
func served(kinds []*fakeapi.Kind) []groupVersion {
	known := map[schema.GroupVersionResource]bool{}
	for _, v := range real {
		for _, r := range v.resources {
			known[v.gv.WithResource(r.name)] = true
		}
	}
	all := real[:len(real):len(real)]
	at := map[schema.GroupVersion]int{}
	for _, k := range kinds {
		if known[k.GVR()] {
			continue
		}
		gv := k.GVK.GroupVersion()
		i, ok := at[gv]
		if !ok {
			i = len(all)
			at[gv] = i
			all = append(all, groupVersion{gv: gv})
		}
		all[i].resources = append(all[i].resources, resourceOf(k))
	}
	return all
}

// customVerbs are the verbs of custom resources, in the order in which the
// real server lists them.
var customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

func resourceOf(k *fakeapi.Kind) resource {
	r := resource{name: k.Resource, kind: k.GVK, singular: k.Singular, namespaced: k.Namespaced, verbs: customVerbs,
		short: k.ShortNames, categories: k.Categories, hash: storageHash(k.GVK)}
	verbs := []string{"get", "patch", "update"}
	if k.Serves("status") {
		r.sub = append(r.sub, resource{name: "status", kind: k.GVK, namespaced: k.Namespaced, verbs: verbs})
	}
	if k.Serves("scale") {
		r.sub = append(r.sub, resource{name: "scale", kind: fakeapi.Scales.GVK, namespaced: k.Namespaced, verbs: verbs})
	}
	return r
}
