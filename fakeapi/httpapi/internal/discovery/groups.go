package discovery

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

// Resources lists the resources of a group and version with their subresources;
// nil when it is not served.
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

// listed is one entry of the list of resources of gv.
func (r *Resource) listed(gv schema.GroupVersion, parent string) metav1.APIResource {
	a := metav1.APIResource{Name: parent + r.Name, Kind: r.Kind.Kind, SingularName: r.singular,
		Namespaced: r.namespaced, Verbs: r.verbs, ShortNames: r.short, Categories: r.categories,
		StorageVersionHash: r.hash}
	if r.Kind.GroupVersion() != gv {
		a.Group, a.Version = r.Kind.Group, r.Kind.Version
	}
	return a
}
