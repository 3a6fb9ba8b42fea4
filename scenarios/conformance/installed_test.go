package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// needy is a program that ends unless its configuration is installed, and keeps an identifier of its own beside
// what it does for Widgets.
func needy(run func(context.Context, *rest.Config) error) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		c := client{dynamic: dyn}
		if _, err := c.Get(ctx, parts, "system", "config"); err != nil {
			return err
		}
		id := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "id", "namespace": "default"}}}
		if _, err := c.Get(ctx, parts, "default", "id"); err != nil {
			if _, err := c.Create(ctx, id); err != nil {
				return err
			}
		}
		return run(ctx, cfg)
	}
}

// installedSubject is that program with its install manifests and its definition in a file.
func installedSubject(t *testing.T, w wrong) check.Subject {
	t.Helper()
	file := func(path string) *check.File {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := check.Read(path, data)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	crds := file("testdata/crd/widgets.yaml")
	crds.Path = crds.Name
	manifests, err := check.Read("install.yaml", []byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: system}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: monitor, namespace: system}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := check.Subject{Controller: bubble.Controller(host.Controller{Name: "needy"}, needy(program(false, w))),
		CRDs: []*check.File{crds}, Sample: file("testdata/widget.yaml"), Schedules: 10}
	for _, o := range manifests.Objects {
		s.Installed = append(s.Installed, o.Unstructured)
	}
	return s
}

// Fields that a definition does not know any more are left out of a program's sample, and named.
func TestUnknownFieldsAreLeftOut(t *testing.T) {
	s := installedSubject(t, wrong{})
	sample, err := check.Read("old.yaml", []byte(`apiVersion: example.com/v1
kind: Widget
metadata: {name: sample}
spec:
  size: 2
  color: green
  material: steel
`))
	if err != nil {
		t.Fatal(err)
	}
	s.Sample = sample
	plan, err := check.Prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if note := "old.yaml:7: widget/sample: the definition knows no field spec.material; it is left out, as a server does"; !slices.Contains(
		plan.Notes, note) {
		t.Errorf("notes %q, want %q", plan.Notes, note)
	}
}

// A program finds what is installed in every world. What it makes without any sample is its own: no law asks for an
// owner, though it has dependents of the same kind.
func TestInstalled(t *testing.T) {
	plan, err := check.Prepare(t.Context(), installedSubject(t, wrong{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `  creates     ConfigMap for itself, in a world without a sample too
  creates     ConfigMap with a ControllerRef
`
	if shown := plan.String(); !strings.Contains(shown, want) {
		t.Errorf("it is shown as\n%s", shown)
	}
	left := "left out system/servicemonitor/monitor: no server here serves monitoring.coreos.com/v1 ServiceMonitor"
	if len(plan.Notes) != 1 || plan.Notes[0] != left {
		t.Errorf("notes %q, want %q", plan.Notes, left)
	}
	for _, name := range []string{"one-owner", "two-owners"} {
		c := placed(t, plan, name)
		x, err := c.Explore(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if x.Failed+x.Unsettled > 0 {
			t.Errorf("%s:\n%s", name, x.Text())
		}
		for _, what := range c.Spared(x) {
			if strings.HasPrefix(what, "LAW-1,") {
				t.Error(what)
			}
		}
	}
}

// What a wrong program does to its dependents is found all the same. The failure names the file of the definition,
// keeps all that is installed, and replays from where it is written.
func TestInstalledAndWrong(t *testing.T) {
	plan, err := check.Prepare(t.Context(), installedSubject(t, wrong{bare: true}))
	if err != nil {
		t.Fatal(err)
	}
	c := plan.Cases[0].World(nil)
	dir, err := os.MkdirTemp("testdata", "kept")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	x, err := c.Explore(t.Context(), filepath.Join(dir, "case"), scenarios.ExploreOptions{Out: dir})
	if err != nil || len(x.Failures) == 0 {
		t.Fatalf("nothing is found (%v)", err)
	}
	text := string(x.Failures[0].File)
	if x.Failures[0].Law != "take-ownership" || !strings.Contains(text, "install ../crd/widgets.yaml installed.yaml\n") ||
		!strings.Contains(text, "name: config") {
		t.Errorf("%s is found, and written as\n%s", x.Failures[0].Law, text)
	}
	path, err := casefile.Keep(dir, x.Failures[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := casefile.Replay(c.Registry(), path); r.Page == nil || r.Page.Breach.Law != "take-ownership" {
		t.Errorf("it is replayed as %+v", r)
	}
}

// A program that does for the sample what it does without it has done nothing.
func TestDoesWithoutASample(t *testing.T) {
	s := installedSubject(t, wrong{})
	idle := func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }
	s.Controller = bubble.Controller(host.Controller{Name: "needy"}, needy(idle))
	_, err := check.Prepare(t.Context(), s)
	want := "it did nothing for its owner: in a world with widget/sample needy has written nothing but what it writes " +
		"without it"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A check that is interrupted begins no further quiet world.
func TestInterruptedBeforeAQuietWorld(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := installedSubject(t, wrong{})
	s.Controller = bubble.Controller(host.Controller{Name: "needy"}, func(context.Context, *rest.Config) error {
		cancel()
		return nil
	})
	if _, err := check.Prepare(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A definition that the install manifests patch is the patched one in every world, although a file on the disk has it
// without the patch.
func TestInstalledDefinitionIsPatched(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.CRDs[0].Objects[0].SetLabels(map[string]string{"patched": "yes"})
	run := program(false, wrong{})
	s.Controller = bubble.Controller(host.Controller{Name: "needy"}, func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		crd, err := dyn.Resource(definitions).Get(ctx, s.CRDs[0].Objects[0].GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if crd.GetLabels()["patched"] == "" {
			return errors.New("the definition is not patched")
		}
		return run(ctx, cfg)
	})
	plan, err := check.Prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c := placed(t, plan, "one-owner")
	x, err := c.Explore(t.Context(), "one-owner")
	if err != nil {
		t.Fatal(err)
	}
	if x.Failed+x.Unsettled > 0 {
		t.Errorf("%s", x.Text())
	}
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// In a hurry no field of the sample is edited, and the plan says so.
func TestHurry(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.Hurry = func() bool { return true }
	plan, err := check.Prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if shown := plan.String(); !strings.Contains(shown, "which fields it follows: no time was left after 0 of ") ||
		strings.Contains(shown, "  follows ") {
		t.Errorf("it is shown as\n%s", shown)
	}
}

// An operator that has to do with ConfigMaps, Secrets and ServiceAccounts has a rival of another kind.
func TestRivalOfAnotherKind(t *testing.T) {
	s := installedSubject(t, wrong{})
	more, err := check.Read("more.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\n"+
		"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: default}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range more.Objects {
		s.Installed = append(s.Installed, o.Unstructured)
	}
	run := program(false, wrong{})
	s.Controller = bubble.Controller(host.Controller{Name: "needy"}, func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		factory := bubble.DynamicInformers(dyn, 0)
		for _, kind := range []string{"secrets", "serviceaccounts"} {
			factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: kind}).Informer()
		}
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		return run(ctx, cfg)
	})
	plan, err := check.Prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c := placed(t, plan, "somebody-elses")
	x, err := c.Explore(t.Context(), "somebody-elses")
	if err != nil {
		t.Fatal(err)
	}
	if x.Failed+x.Unsettled > 0 {
		t.Errorf("%s", x.Text())
	}
	if text := string(c.World); !strings.Contains(text, "NetworkPolicy") {
		t.Errorf("the rival is no NetworkPolicy:\n%s", text)
	}
}

// A program that looks every second for an object that only another controller would make is right.
func TestPollingProgram(t *testing.T) {
	s := installedSubject(t, wrong{})
	run := program(false, wrong{})
	s.Controller = bubble.Controller(host.Controller{Name: "needy"}, func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		go func() {
			for ctx.Err() == nil {
				_, _ = client{dynamic: dyn}.Get(ctx, parts, "default", "claim")
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		}()
		return run(ctx, cfg)
	})
	plan, err := check.Prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Restless {
		t.Fatalf("it does not settle:\n%s", plan)
	}
	c := casefile.Case(placed(t, plan, "one-owner"))
	x, err := c.Explore(t.Context(), "one-owner", scenarios.ExploreOptions{Steps: 30_000})
	if err != nil {
		t.Fatal(err)
	}
	if x.Failed+x.Unsettled > 0 {
		t.Errorf("%s", x.Text())
	}
}
