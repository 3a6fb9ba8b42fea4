package httpapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The documents of aggregated discovery, as apidiscovery.k8s.io defines them.
type (
	groupDiscoveryList struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ListMeta  `json:"metadata"`
		Items           []groupDiscovery `json:"items"`
	}
	groupDiscovery struct {
		Metadata struct {
			Name string `json:"name,omitempty"`
		} `json:"metadata"`
		Versions []versionDiscovery `json:"versions"`
	}
	versionDiscovery struct {
		Version   string              `json:"version"`
		Resources []resourceDiscovery `json:"resources,omitempty"`
		Freshness string              `json:"freshness"`
	}
	resourceDiscovery struct {
		Resource         string                  `json:"resource"`
		ResponseKind     metav1.GroupVersionKind `json:"responseKind"`
		Scope            string                  `json:"scope"`
		SingularResource string                  `json:"singularResource"`
		Verbs            []string                `json:"verbs"`
		ShortNames       []string                `json:"shortNames,omitempty"`
		Categories       []string                `json:"categories,omitempty"`
		Subresources     []subresourceDiscovery  `json:"subresources,omitempty"`
	}
	subresourceDiscovery struct {
		Subresource  string                  `json:"subresource"`
		ResponseKind metav1.GroupVersionKind `json:"responseKind"`
		Verbs        []string                `json:"verbs"`
	}
)

// aggregated shows all groups, or the core one, with their resources.
func aggregated(all []groupVersion, core bool, f format) *answer {
	list := groupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: f.group + "/" + f.version}, Items: []groupDiscovery{}}
	for _, v := range all {
		if core != (v.gv.Group == "") {
			continue
		}
		n := len(list.Items)
		if n == 0 || list.Items[n-1].Metadata.Name != v.gv.Group {
			list.Items = append(list.Items, groupDiscovery{})
			list.Items[n].Metadata.Name = v.gv.Group
			n++
		}
		list.Items[n-1].Versions = append(list.Items[n-1].Versions, v.aggregated())
	}
	a := raw(f, &list)
	a.contentType = jsonMedia + ";g=" + f.group + ";v=" + f.version + ";as=" + f.as
	return a
}

func (v *groupVersion) aggregated() versionDiscovery {
	d := versionDiscovery{Version: v.gv.Version, Freshness: "Current"}
	for i := range v.resources {
		r := &v.resources[i]
		rd := resourceDiscovery{Resource: r.name, ResponseKind: v.responseKind(r), Scope: "Cluster", SingularResource: r.singular,
			Verbs: r.verbs, ShortNames: r.short, Categories: r.categories}
		if r.namespaced {
			rd.Scope = "Namespaced"
		}
		for j := range r.sub {
			s := &r.sub[j]
			rd.Subresources = append(rd.Subresources, subresourceDiscovery{Subresource: s.name, ResponseKind: v.responseKind(s), Verbs: s.verbs})
		}
		d.Resources = append(d.Resources, rd)
	}
	return d
}

// responseKind names group and version only where they are not the resource's.
func (v *groupVersion) responseKind(r *resource) metav1.GroupVersionKind {
	k := metav1.GroupVersionKind{Kind: r.kind.Kind}
	if r.kind.GroupVersion() != v.gv {
		k.Group, k.Version = r.kind.Group, r.kind.Version
	}
	return k
}
