package kubectltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// must is for calls whose failure ends a test.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestDiscoveryClient reads what is served in the old and the aggregated form, and maps what a person types.
func TestDiscoveryClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		d := must(discovery.NewDiscoveryClientForConfig(s.config()))(t)
		_, aggregated, err := d.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		d.UseLegacyDiscovery = true
		_, legacy, err := d.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := resourceNames(aggregated), resourceNames(legacy); !slices.Equal(a, b) {
			t.Errorf("aggregated and old discovery differ:\n%s",
				unified("aggregated", "old", strings.Join(a, "\n"), strings.Join(b, "\n")))
		}
		if v := must(d.ServerVersion())(t); v.GitVersion != "v1.36.3" {
			t.Errorf("version %s", v.GitVersion)
		}
		mapper := restmapper.NewDiscoveryRESTMapper(must(restmapper.GetAPIGroupResources(d))(t))
		kind := must(mapper.KindFor(schema.GroupVersionResource{Resource: "replicasets"}))(t)
		if kind != appsv1.SchemeGroupVersion.WithKind("ReplicaSet") {
			t.Errorf("replicasets are of kind %v", kind)
		}
	})
}

func resourceNames(lists []*metav1.APIResourceList) []string {
	var names []string
	for _, l := range lists {
		for _, r := range l.APIResources {
			names = append(names, fmt.Sprintf("%s %s %v %v %v", l.GroupVersion, r.Name, r.Kind, r.Namespaced, r.Verbs))
		}
	}
	slices.Sort(names)
	return names
}

func TestOpenAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		d := must(discovery.NewDiscoveryClientForConfig(s.config()))(t)
		v2 := must(d.OpenAPISchema())(t)
		if n := len(v2.GetDefinitions().GetAdditionalProperties()); n < 100 {
			t.Errorf("version 2 has %d definitions", n)
		}
		paths := must(d.OpenAPIV3().Paths())(t)
		for _, path := range []string{"api/v1", "apis/apps/v1"} {
			if paths[path] == nil {
				t.Fatalf("version 3 has no document for %s", path)
			}
			must(paths[path].Schema("application/json"))(t)
		}
	})
}
