package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// storageVersions are the kinds that the real server stores in another version
// than the one it is asked for.
var storageVersions = map[schema.GroupVersionKind]string{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:           "v2",
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: "v1beta1",
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                           "v1",
}

// storageHash is how discovery shows the version a kind is stored in.
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

// discover answers the paths of discovery; ok is false for any other.
func (h *Handler) discover(r *http.Request, kinds []*fakeapi.Kind) (a *answer, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	core := parts[0] == "api" && len(parts) <= 2
	if !core && (parts[0] != "apis" || len(parts) > 3) {
		return nil, false
	}
	f, acceptable := negotiate(r, asDiscovery)
	if !acceptable {
		return fail(format{}, errNotAcceptable()), true
	}
	all := served(kinds)
	switch {
	case len(parts) == 1 && f.as != "":
		return aggregated(all, core, f), true
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return fail(f, errMethod()), true
	case core && len(parts) == 1:
		return raw(f, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}, "serverAddressByClientCIDRs": []metav1.ServerAddressByClientCIDR{
			{ClientCIDR: "0.0.0.0/0", ServerAddress: h.address(r)}}}), true
	case core:
		return resourceList(all, schema.GroupVersion{Version: parts[1]}, f), true
	case len(parts) == 1:
		return raw(f, &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: groups(all)}), true
	case len(parts) == 2:
		for _, g := range groups(all) {
			if g.Name == parts[1] {
				g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return raw(f, &g), true
			}
		}
		return notFoundText(), true
	}
	return resourceList(all, schema.GroupVersion{Group: parts[1], Version: parts[2]}, f), true
}

// address is the address the server says it has.
func (h *Handler) address(r *http.Request) string {
	if h.Address != "" {
		return h.Address
	}
	return r.Host
}

// raw is an answer that is JSON of something else than an API object.
func raw(f format, v any) *answer {
	text, err := json.Marshal(v)
	if err != nil {
		panic("httpapi: a discovery document does not encode: " + err.Error())
	}
	f.media = jsonMedia
	return &answer{code: http.StatusOK, raw: text, format: f.plain()}
}

// groups lists the groups but the core one; the first version is preferred.
func groups(all []groupVersion) []metav1.APIGroup {
	var out []metav1.APIGroup
	for _, v := range all {
		if v.gv.Group == "" {
			continue
		}
		d := metav1.GroupVersionForDiscovery{GroupVersion: v.gv.String(), Version: v.gv.Version}
		found := false
		for i := range out {
			if out[i].Name == v.gv.Group {
				out[i].Versions, found = append(out[i].Versions, d), true
			}
		}
		if !found {
			out = append(out, metav1.APIGroup{Name: v.gv.Group, Versions: []metav1.GroupVersionForDiscovery{d}, PreferredVersion: d})
		}
	}
	return out
}

func resourceList(all []groupVersion, gv schema.GroupVersion, f format) *answer {
	for _, v := range all {
		if v.gv != gv {
			continue
		}
		list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
		if gv.Group != "" {
			list.APIVersion = "v1"
		}
		for i := range v.resources {
			r := &v.resources[i]
			list.APIResources = append(list.APIResources, r.shown(gv, ""))
			for j := range r.sub {
				list.APIResources = append(list.APIResources, r.sub[j].shown(gv, r.name+"/"))
			}
		}
		return raw(f, list)
	}
	return fail(f, errNotFound())
}

// shown is one resource in the older form of discovery.
func (r *resource) shown(gv schema.GroupVersion, parent string) metav1.APIResource {
	a := metav1.APIResource{Name: parent + r.name, Kind: r.kind.Kind, SingularName: r.singular, Namespaced: r.namespaced,
		Verbs: r.verbs, ShortNames: r.short, Categories: r.categories, StorageVersionHash: r.hash}
	if r.kind.GroupVersion() != gv {
		a.Group, a.Version = r.kind.Group, r.kind.Version
	}
	return a
}
