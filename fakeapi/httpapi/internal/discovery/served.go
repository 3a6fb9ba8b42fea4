// Package discovery returns the discovery documents for the resources of the real server and of CRDs.
package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/internal/resources"
)

// Served returns all resources of the real server, and the resources of the custom kinds in kinds.
func Served(kinds []*fakeapi.Kind) []resources.GroupVersion {
	all := resources.All[:len(resources.All):len(resources.All)]
	at := map[schema.GroupVersion]int{}
	for _, k := range kinds {
		if resources.Find(k.GVR(), "") != nil {
			continue
		}
		gv := k.GVK.GroupVersion()
		i, ok := at[gv]
		if !ok {
			i = len(all)
			at[gv] = i
			all = append(all, resources.GroupVersion{GroupVersion: gv})
		}
		all[i].Resources = append(all[i].Resources, resourceOf(k))
	}
	return all
}

// customVerbs holds the verbs of custom resources, in the real server's order.
var customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

func resourceOf(k *fakeapi.Kind) resources.Resource {
	r := resources.Resource{Name: k.Resource, Kind: k.GVK, Singular: k.Singular, Namespaced: k.Namespaced,
		Verbs: customVerbs, ShortNames: k.ShortNames, Categories: k.Categories, Custom: true}
	if _, v := k.Stored().Definition(); v.Served {
		r.StorageVersion = v.Name
	}
	for _, name := range [...]string{"status", "scale"} {
		if k.Serves(name) {
			r.Sub = append(r.Sub, resources.Resource{Name: name, Kind: k.BodyKind(name).GVK, Namespaced: k.Namespaced,
				Verbs: []string{"get", "patch", "update"}, Custom: true})
		}
	}
	return r
}

// Groups returns the document of /apis: all groups except the core group. The first version of a group is preferred.
func Groups(all []resources.GroupVersion) *metav1.APIGroupList {
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

// Group returns the document of /apis/NAME, or nil.
func Group(all []resources.GroupVersion, name string) *metav1.APIGroup {
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

// Resources lists the resources and subresources of a group and version. It returns nil if the version is not served.
func Resources(all []resources.GroupVersion, gv schema.GroupVersion) *metav1.APIResourceList {
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
			list.APIResources = append(list.APIResources, listed(r, gv, ""))
			for j := range r.Sub {
				list.APIResources = append(list.APIResources, listed(&r.Sub[j], gv, r.Name+"/"))
			}
		}
		return list
	}
	return nil
}

func listed(r *resources.Resource, gv schema.GroupVersion, parent string) metav1.APIResource {
	a := metav1.APIResource{Name: parent + r.Name, Kind: r.Kind.Kind, SingularName: r.Singular,
		Namespaced: r.Namespaced, Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories}
	switch {
	case parent != "" || len(r.Verbs) <= 2: // resources with one or two verbs, such as tokenreviews, are not stored
	case !r.Custom:
		a.StorageVersionHash = storageHash(r.Kind)
	case r.StorageVersion != "":
		a.StorageVersionHash = storageHash(r.Kind.GroupKind().WithVersion(r.StorageVersion))
	}
	if r.Kind.GroupVersion() != gv {
		a.Group, a.Version = r.Kind.Group, r.Kind.Version
	}
	return a
}

// storageVersions maps built-in kinds to the versions in which they are stored, unless this is their own version.
var storageVersions = map[schema.GroupVersionKind]string{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:           "v2",
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: "v1beta1",
}

// storageHash returns a hash of the version in which a kind is stored, for discovery documents.
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

// Documents caches the encoded documents of aggregated discovery. It encodes them again when the kinds have changed.
type Documents struct {
	mu      sync.Mutex
	kinds   []*fakeapi.Kind
	encoded map[documentKey][]byte
}

type documentKey struct {
	core bool
	in   schema.GroupVersion
}

// Aggregated returns the document of the core group, or of all other groups, in a version of apidiscovery.k8s.io.
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

func aggregated(all []resources.GroupVersion, core bool, in schema.GroupVersion) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{Items: []apidiscoveryv2.APIGroupDiscovery{}}
	list.SetGroupVersionKind(in.WithKind("APIGroupDiscoveryList"))
	for i := range all {
		v := &all[i]
		if core != (v.Group == "") {
			continue
		}
		n := len(list.Items)
		if n == 0 || list.Items[n-1].Name != v.Group {
			list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: v.Group}})
			n++
		}
		list.Items[n-1].Versions = append(list.Items[n-1].Versions, aggregatedVersion(v))
	}
	return list
}

func aggregatedVersion(v *resources.GroupVersion) apidiscoveryv2.APIVersionDiscovery {
	d := apidiscoveryv2.APIVersionDiscovery{Version: v.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for i := range v.Resources {
		r := &v.Resources[i]
		rd := apidiscoveryv2.APIResourceDiscovery{Resource: r.Name, ResponseKind: responseKind(v, r),
			Scope: apidiscoveryv2.ScopeCluster, SingularResource: r.Singular, Verbs: r.Verbs, ShortNames: r.ShortNames,
			Categories: r.Categories}
		if r.Namespaced {
			rd.Scope = apidiscoveryv2.ScopeNamespace
		}
		for j := range r.Sub {
			s := &r.Sub[j]
			rd.Subresources = append(rd.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: s.Name,
				ResponseKind: responseKind(v, s), Verbs: s.Verbs})
		}
		d.Resources = append(d.Resources, rd)
	}
	return d
}

// responseKind returns the kind of a resource. For a built-in kind, group and version are set only if they differ from
// those in v.
func responseKind(v *resources.GroupVersion, r *resources.Resource) *metav1.GroupVersionKind {
	k := &metav1.GroupVersionKind{Kind: r.Kind.Kind}
	if r.Custom || r.Kind.GroupVersion() != v.GroupVersion {
		k.Group, k.Version = r.Kind.Group, r.Kind.Version
	}
	return k
}
