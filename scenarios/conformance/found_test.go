package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// What quiet runs show of an operator that declares nothing.
func TestFound(t *testing.T) {
	plan := prepared(t, sample(widget(true, wrong{})))
	want := `widget, as quiet runs show it:
  works on    example.com/v1 Widget
  watches     ConfigMap, Widget
  creates     ConfigMap with a ControllerRef
  writes      Widget/status
  adopts      what has the labels example.com/widget=(metadata.name)
  releases    what its labels do not match any more
  follows     spec.size: 2 -> 3, with 3 dependents in place of 2
  follows     spec.color: green -> greenx
  follows     the removal of spec.color
`
	if d := cmp.Diff(want, plan.String()); d != "" {
		t.Error(d)
	}
}

const replicaSet = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: registry.example/web}]}}
`

// bare is a controller of this module with nothing declared but what a stranger declares.
func bare(t *testing.T, name string) (undeclared, whole host.Controller) {
	for _, c := range controllers.Builtin() {
		if c.Name == name && c.Era == "current" {
			return host.Controller{Name: c.Name, Era: c.Era, For: c.For, Routes: c.Routes, New: c.New,
				Workers: c.Workers}, c
		}
	}
	t.Fatalf("there is no %s@current", name)
	return
}

// The ReplicaSet controller passes under the profile upstream given by its reconciler
// alone, and what is found out of it is what it declares.
func TestReplicaSet(t *testing.T) {
	undeclared, whole := bare(t, "replicaset")
	owner := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(owner, []byte(replicaSet), 0o644); err != nil {
		t.Fatal(err)
	}
	given := Subject{Controller: undeclared, Samples: []string{owner}, Profile: law.Upstream}
	c := prepared(t, given).Controller
	if !slices.Equal(c.Owns, whole.Owns) {
		t.Errorf("it owns %v, and says %v", c.Owns, whole.Owns)
	}
	if !slices.Equal(c.Contract.Finalizers, whole.Contract.Finalizers) {
		t.Errorf("it puts %v, and says %v", c.Contract.Finalizers, whole.Contract.Finalizers)
	}
	for _, n := range []int32{1, 2, 3} {
		rs := &appsv1.ReplicaSet{}
		decode(t, replicaSet, rs)
		rs.Spec.Replicas = &n
		rs = stored(t, rs).(*appsv1.ReplicaSet)
		if got, want := c.Contract.Replicas(rs), whole.Contract.Replicas(rs); got != want {
			t.Errorf("of %d it wants %d, and says %d", n, got, want)
		}
		if got, want := c.Contract.Selector(rs).String(), whole.Contract.Selector(rs).String(); got != want {
			t.Errorf("it selects %s, and says %s", got, want)
		}
	}
	Test(t, given)
}

// decode reads a manifest.
func decode(t *testing.T, text string, into runtime.Object) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// stored is an object as the server stores it.
func stored(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	server := fakeapi.New(fakeapi.Options{})
	k := server.KindOf(obj)
	obj.(metav1.Object).SetNamespace("default")
	resp, _ := server.Do(sim.Epoch,
		&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: "default", Object: obj})
	if resp.Err != nil {
		t.Fatal(resp.Err)
	}
	return resp.Object
}

// What it declares to own it owns, and what it was seen to control beside.
func TestFoundBesideDeclared(t *testing.T) {
	c := widget(false, wrong{})
	c.Owns = []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Secret")}
	if got := prepared(t, sample(c)).Controller.Owns; !slices.Equal(got, append(slices.Clone(c.Owns), parts)) {
		t.Errorf("it owns %v", got)
	}
}
