package install_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/threelaws/threelaws/internal/install"
)

func repository(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, file.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// find reads a repository. It fails the test if the repository changes.
func find(t *testing.T, archive string, opts install.Options) (*install.Repository, error) {
	t.Helper()
	dir := repository(t, archive)
	opts.Dir = filepath.Join(dir, opts.Dir)
	before := listing(t, dir)
	r, err := install.Find(t.Context(), opts)
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the repository changed: - before, + after\n%s", diff)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("an error of several lines: %v", err)
	}
	return r, err
}

func found(t *testing.T, archive string, opts install.Options) *install.Repository {
	t.Helper()
	r, err := find(t, archive, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func shown(objects []install.Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, strings.TrimSpace(o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()+" "+o.File))
	}
	return all
}

func wantNote(t *testing.T, r *install.Repository, text string) {
	t.Helper()
	if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, text) }) {
		t.Errorf("no note has %q: %q", text, r.Notes)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want one with %q", err, text)
	}
}

const program = `
-- go.mod --
module example.com/widget-operator

go 1.21
-- main.go --
package main

func main() {}
`

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: false}
  - {name: v1, served: true, storage: true}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: widget-operator
spec:
  template:
    spec:
      containers:
      - name: manager
        image: example.com/widget-operator:v1
        args: [--leader-elect]
`

// All parts of a project that kubebuilder has generated are found.
func TestFindKubebuilder(t *testing.T) {
	archive, err := os.ReadFile("testdata/kubebuilder.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := found(t, string(archive), install.Options{})
	if r.Main != "./cmd" {
		t.Errorf("main package %s, want ./cmd", r.Main)
	}
	wantObjects := []string{
		"Namespace /widget-system config/manager/manager.yaml",
		"ServiceAccount widget-system/widget-manager config/rbac/account.yaml",
		"ClusterRoleBinding /widget-manager config/rbac/account.yaml",
		"ConfigMap widget-system/widget-config-t82mkhg8fd config/default/kustomization.yaml",
		"Certificate widget-system/widget-serving-cert config/default/certificate.yaml",
	}
	if diff := cmp.Diff(wantObjects, shown(r.Objects)); diff != "" {
		t.Errorf("objects: - want, + got\n%s", diff)
	}
	wantCRDs := []string{
		"CustomResourceDefinition /widgets.example.com config/crd/bases/example.com_widgets.yaml",
		"CustomResourceDefinition /gadgets.example.com config/crd/bases/example.com_gadgets.yaml",
	}
	if diff := cmp.Diff(wantCRDs, shown(r.CRDs)); diff != "" {
		t.Errorf("CRDs: - want, + got\n%s", diff)
	}
	w := r.Workload
	if w == nil {
		t.Fatal("no workload")
	}
	if got := w.GetNamespace() + "/" + w.GetName() + " " + w.Container.Name + " " + w.Pod.Spec.ServiceAccountName; got !=
		"widget-system/widget-controller-manager manager widget-manager" {
		t.Errorf("workload %s", got)
	}
	if w.File != "config/manager/manager.yaml" || w.Line != 6 {
		t.Errorf("the workload is from %s:%d, want config/manager/manager.yaml:6", w.File, w.Line)
	}
	want := install.Process{
		Pod:  "widget-controller-manager-1",
		Args: []string{"--leader-elect", "--namespace=widget-system", "--price=$5", "--other=$(UNKNOWN)"},
		Env:  []string{"MODE=fast", "NAMESPACE=widget-system", "POD=widget-controller-manager-1"},
	}
	if diff := cmp.Diff(want, w.Process(1)); diff != "" {
		t.Errorf("process: - want, + got\n%s", diff)
	}
	if len(r.Samples) != 1 || r.Samples[0].GetName() != "sample" {
		t.Errorf("samples %v, want the one of config/samples", r.Samples)
	}
	if r.Name != "widgets" {
		t.Errorf("the project is %q, want the name in PROJECT", r.Name)
	}
	wantNote(t, r, "main package ./cmd, from PROJECT")
	wantNote(t, r, "1 CRD from config/crd/bases, which the install lacks")
	wantNote(t, r, "no sample of Gadget.example.com")
}
