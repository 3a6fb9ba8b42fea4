package discovery

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// Served is what discovery shows: all that the real server has, and those of
// the kinds that were defined here besides.
func Served(kinds []*fakeapi.Kind) []GroupVersion {
	known := map[schema.GroupVersionResource]bool{}
	for _, v := range real {
		for _, r := range v.Resources {
			known[v.WithResource(r.Name)] = true
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
			all = append(all, GroupVersion{GroupVersion: gv})
		}
		all[i].Resources = append(all[i].Resources, resourceOf(k))
	}
	return all
}

// customVerbs are the verbs of custom resources, in the order in which the
// real server lists them.
var customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

func resourceOf(k *fakeapi.Kind) Resource {
	r := Resource{Name: k.Resource, Kind: k.GVK, singular: k.Singular, namespaced: k.Namespaced, verbs: customVerbs,
		short: k.ShortNames, categories: k.Categories, hash: storageHash(k.GVK)}
	verbs := []string{"get", "patch", "update"}
	if k.Serves("status") {
		r.Sub = append(r.Sub, Resource{Name: "status", Kind: k.GVK, namespaced: k.Namespaced, verbs: verbs})
	}
	if k.Serves("scale") {
		r.Sub = append(r.Sub, Resource{Name: "scale", Kind: fakeapi.Scales.GVK, namespaced: k.Namespaced, verbs: verbs})
	}
	return r
}
