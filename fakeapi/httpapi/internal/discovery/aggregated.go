package discovery

import (
	"encoding/json"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// GroupList is the document of aggregated discovery, as apidiscovery.k8s.io
// defines it.
type GroupList struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ListMeta  `json:"metadata"`
	Items           []groupDiscovery `json:"items"`
}

type (
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

// Documents keeps the encoded documents of aggregated discovery for as long as the served kinds are the same.
type Documents struct {
	mu      sync.Mutex
	kinds   []*fakeapi.Kind
	encoded map[documentKey][]byte
}

type documentKey struct {
	core bool
	in   schema.GroupVersion
}

// Aggregated returns the JSON of all groups, or of the core one, with their resources, in a version of
// apidiscovery.k8s.io.
func (d *Documents) Aggregated(kinds []*fakeapi.Kind, core bool, in schema.GroupVersion) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.kinds, kinds) {
		d.kinds, d.encoded = slices.Clone(kinds), nil
	}
	key := documentKey{core, in}
	if text, ok := d.encoded[key]; ok {
		return text
	}
	text, err := json.Marshal(aggregated(Served(kinds), core, in))
	if err != nil {
		panic("discovery: a document of our own does not encode: " + err.Error())
	}
	if d.encoded == nil {
		d.encoded = map[documentKey][]byte{}
	}
	d.encoded[key] = text
	return text
}

func aggregated(all []GroupVersion, core bool, in schema.GroupVersion) *GroupList {
	list := &GroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: in.String()},
		Items: []groupDiscovery{}}
	for _, v := range all {
		if core != (v.Group == "") {
			continue
		}
		n := len(list.Items)
		if n == 0 || list.Items[n-1].Metadata.Name != v.Group {
			list.Items = append(list.Items, groupDiscovery{})
			list.Items[n].Metadata.Name = v.Group
			n++
		}
		list.Items[n-1].Versions = append(list.Items[n-1].Versions, v.aggregated())
	}
	return list
}

func (v *GroupVersion) aggregated() versionDiscovery {
	d := versionDiscovery{Version: v.Version, Freshness: "Current"}
	for i := range v.Resources {
		r := &v.Resources[i]
		rd := resourceDiscovery{Resource: r.Name, ResponseKind: v.responseKind(r), Scope: "Cluster",
			SingularResource: r.singular, Verbs: r.verbs, ShortNames: r.short, Categories: r.categories}
		if r.namespaced {
			rd.Scope = "Namespaced"
		}
		for j := range r.Sub {
			s := &r.Sub[j]
			rd.Subresources = append(rd.Subresources,
				subresourceDiscovery{Subresource: s.Name, ResponseKind: v.responseKind(s), Verbs: s.verbs})
		}
		d.Resources = append(d.Resources, rd)
	}
	return d
}

// responseKind names group and version only where they are not the resource's.
func (v *GroupVersion) responseKind(r *Resource) metav1.GroupVersionKind {
	k := metav1.GroupVersionKind{Kind: r.Kind.Kind}
	if r.Kind.GroupVersion() != v.GroupVersion {
		k.Group, k.Version = r.Kind.Group, r.Kind.Version
	}
	return k
}
