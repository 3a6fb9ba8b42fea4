package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// Served returns the real server's resources and those of CRDs.
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

// customVerbs are the verbs of custom resources, in the real server's order.
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

// Groups lists the groups but the core one; the first version is preferred.
func Groups(all []GroupVersion) *metav1.APIGroupList {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, v := range all {
		if v.Group == "" {
			continue
		}
		d := metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}
		if g := group(list, v.Group); g != nil {
			g.Versions = append(g.Versions, d)
			continue
		}
		list.Groups = append(list.Groups,
			metav1.APIGroup{Name: v.Group, Versions: []metav1.GroupVersionForDiscovery{d}, PreferredVersion: d})
	}
	return list
}

// Group describes one group; nil when there is none.
func Group(all []GroupVersion, name string) *metav1.APIGroup {
	g := group(Groups(all), name)
	if g != nil {
		g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	}
	return g
}

func group(list *metav1.APIGroupList, name string) *metav1.APIGroup {
	for i := range list.Groups {
		if list.Groups[i].Name == name {
			return &list.Groups[i]
		}
	}
	return nil
}

// Resources lists the resources and subresources of a group and version; nil when it is not served.
func Resources(all []GroupVersion, gv schema.GroupVersion) *metav1.APIResourceList {
	for _, v := range all {
		if v.GroupVersion != gv {
			continue
		}
		list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: gv.String(),
			APIResources: []metav1.APIResource{}}
		if gv.Group != "" {
			list.APIVersion = "v1"
		}
		for i := range v.Resources {
			r := &v.Resources[i]
			list.APIResources = append(list.APIResources, r.listed(gv, ""))
			for j := range r.Sub {
				list.APIResources = append(list.APIResources, r.Sub[j].listed(gv, r.Name+"/"))
			}
		}
		return list
	}
	return nil
}

// listed returns an entry of the resource list of gv.
func (r *Resource) listed(gv schema.GroupVersion, parent string) metav1.APIResource {
	a := metav1.APIResource{Name: parent + r.Name, Kind: r.Kind.Kind, SingularName: r.singular,
		Namespaced: r.namespaced, Verbs: r.verbs, ShortNames: r.short, Categories: r.categories,
		StorageVersionHash: r.hash}
	if r.Kind.GroupVersion() != gv {
		a.Group, a.Version = r.Kind.Group, r.Kind.Version
	}
	return a
}

// storageVersions are the kinds whose storage version differs from the requested version.
var storageVersions = map[schema.GroupVersionKind]string{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:           "v2",
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: "v1beta1",
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                           "v1",
}

// storageHash returns the storage version's hash in discovery.
func storageHash(gvk schema.GroupVersionKind) string {
	if v, ok := storageVersions[gvk]; ok {
		gvk.Version = v
	}
	if gvk.Group == "events.k8s.io" {
		gvk.Group = ""
	}
	sum := sha256.Sum256([]byte(gvk.Group + "/" + gvk.Version + "/" + gvk.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// GroupList is an APIGroupDiscoveryList of apidiscovery.k8s.io.
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

// Aggregated returns the JSON of all groups, or of the core one, in a version of apidiscovery.k8s.io.
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
