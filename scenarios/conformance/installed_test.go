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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// needy returns a controller whose program ends unless its configuration is installed. It also creates a ConfigMap for
// itself, in addition to its work for Widgets.
func needy(run func(context.Context, *rest.Config) error) host.Controller {
	return bubble.Controller(host.Controller{Name: "needy"}, func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		c := client{dynamic: dyn}
		if _, err := c.Get(ctx, parts, "system", "config"); err != nil {
			return err
		}
		if _, err := c.Get(ctx, parts, "default", "id"); err != nil {
			if _, err := c.Create(ctx, object(parts, "default", "id")); err != nil {
				return err
			}
		}
		return run(ctx, cfg)
	})
}

// beside returns a controller with the right program for Widgets, which first calls a function.
func beside(first func(ctx context.Context, dyn *dynamic.DynamicClient) error) host.Controller {
	run := program(false, wrong{})
	return bubble.Controller(host.Controller{Name: "needy"}, func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err == nil {
			err = first(ctx, dyn)
		}
		if err != nil {
			return err
		}
		return run(ctx, cfg)
	})
}

func planned(t *testing.T, s check.Operator) *check.Plan {
	t.Helper()
	plan, err := check.Prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func manifests(t *testing.T, name, text string) *check.File {
	t.Helper()
	f, err := check.Read(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// installedSubject returns the needy program with its install manifests and its CRD in a file.
func installedSubject(t *testing.T, w wrong) check.Operator {
	t.Helper()
	read := func(path string) *check.File {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return manifests(t, path, string(data))
	}
	crds := read("testdata/crd/widgets.yaml")
	crds.Path = crds.Name
	s := check.Operator{Controller: needy(program(false, w)), CRDs: []*check.File{crds}, Sample: read("testdata/widget.yaml"),
		Schedules: 10}
	for _, o := range manifests(t, "install.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: system}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: monitor, namespace: system}
`).Objects {
		s.Installed = append(s.Installed, o.Unstructured)
	}
	return s
}

// Fields that the CRD does not define are removed from a program's sample, and named in the notes. If the program does
// nothing for the sample, the error names them.
func TestUnknownFieldsAreLeftOut(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.Sample = manifests(t, "old.yaml", `apiVersion: example.com/v1
kind: Widget
metadata: {name: sample}
spec:
  size: 2
  color: green
  material: steel
`)
	note := "old.yaml:7: widget/sample: there is no field spec.material; it is left out, as a server does"
	if plan := planned(t, s); !slices.Contains(plan.Notes, note) {
		t.Errorf("notes %q, want %q", plan.Notes, note)
	}
	s.Lacking = func(*check.Idle, bool) bool { return true }
	if _, err := check.Prepare(t.Context(), s); err == nil || !strings.Contains(err.Error(), "old.yaml:7: widget/sample: there is no field spec.material") {
		t.Errorf("the error names no field: %v", err)
	}
}

// An object without a reference is no dependent of the sample if the program creates it before the sample exists, for an
// object beside the sample.
func TestObjectsBesideTheSample(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.Sample = manifests(t, "sample.yaml", `apiVersion: example.com/v1
kind: Widget
metadata: {name: sample}
spec: {size: 2, color: green}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
`)
	s.Controller = beside(func(ctx context.Context, dyn *dynamic.DynamicClient) error {
		w, err := dyn.Resource(corev1.SchemeGroupVersion.WithResource("services")).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		go func() {
			for range w.ResultChan() {
				_, _ = client{dynamic: dyn}.Create(ctx, object(parts, "default", "of-service")) // it may exist already
			}
		}()
		return nil
	})
	shows(t, planned(t, s), "  creates     ConfigMap for itself, in a world without a sample too\n  creates     ConfigMap with a ControllerRef\n")
}

// Installed objects exist in every world. No law requires an owner for objects that a program creates without a sample,
// although its dependents have the same kind.
func TestInstalled(t *testing.T) {
	plan := planned(t, installedSubject(t, wrong{}))
	shows(t, plan, `  creates     ConfigMap for itself, in a world without a sample too
  creates     ConfigMap with a ControllerRef
`)
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
		for _, what := range c.AlsoUnexercised(x) {
			if strings.HasPrefix(what, "LAW-1,") {
				t.Error(what)
			}
		}
	}
}

// A failure file names the file of the CRD and contains all other installed objects. It replays in its directory.
func TestInstalledAndWrong(t *testing.T) {
	c := planned(t, installedSubject(t, wrong{bare: true})).Cases[0].World(nil)
	dir, err := os.MkdirTemp("testdata", "kept")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	x, err := c.Explore(t.Context(), filepath.Join(dir, "case"), scenarios.ExploreOptions{Out: dir})
	if err != nil || len(x.Failures) == 0 {
		t.Fatalf("no violation is found (%v)", err)
	}
	text := string(x.Failures[0].File)
	if x.Failures[0].Law != "take-ownership" || !strings.Contains(text, "install ../crd/widgets.yaml installed.yaml\n") ||
		!strings.Contains(text, "name: config") {
		t.Errorf("%s is violated, and the file is\n%s", x.Failures[0].Law, text)
	}
	path, err := kept.Keep(dir, x.Failures[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := kept.Replay(c.Registry(), path); r.Page == nil || r.Page.Violation.Law != "take-ownership" {
		t.Errorf("the replay is %+v", r)
	}
}

// A failure is minimized without removing the objects in the sample's file, since the controller may need them.
func TestObjectsOfTheSampleStay(t *testing.T) {
	s := sample(widget(false, wrong{bare: true}))
	own, err := os.ReadFile(s.Samples[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Samples = []string{sampleFile(t, string(own)+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: password}\n")}
	x := finds(t, prepared(t, s), "one-owner", "take-ownership")
	if text := string(x.Failures[0].File); !strings.Contains(text, "name: password") {
		t.Errorf("the Secret is missing in\n%s", text)
	}
}

// After the first quiet run, Lacking gets what the program did, and can end Prepare.
func TestLacking(t *testing.T) {
	for _, creates := range []bool{true, false} {
		s := installedSubject(t, wrong{})
		if !creates {
			s.Controller = needy(func(ctx context.Context, cfg *rest.Config) error {
				dyn, err := dynamic.NewForConfig(cfg)
				if err != nil {
					return err
				}
				text := []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)
				_, _ = dyn.Resource(widgets.GroupVersion().WithResource("widgets")).Namespace("default").Patch(ctx, "sample", types.MergePatchType, text, metav1.PatchOptions{})
				<-ctx.Done()
				return nil
			})
		}
		calls := 0
		s.Lacking = func(idle *check.Idle, created bool) bool {
			if calls++; created != creates || !strings.HasPrefix(idle.Text, "needy has written ") {
				t.Errorf("%t: %+v", created, idle)
			}
			return true
		}
		_, err := check.Prepare(t.Context(), s)
		if idle := (*check.Idle)(nil); !errors.As(err, &idle) || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
	}
}

// If a program creates no dependents, the profile shows what the status of the sample says about it.
func TestStatusIsShown(t *testing.T) {
	s := installedSubject(t, wrong{})
	crd := s.CRDs[0].Objects[0].Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["schema"].(map[string]any)
	crd["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)["status"] = map[string]any{"type": "object",
		"x-kubernetes-preserve-unknown-fields": true}
	s.Controller = needy(func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		text := []byte(`{"status":{"state":"x","message":"no license","conditions":[{"type":"Ready","status":"False","message":"no secret"},
			{"type":"Up","status":"True","message":"fine"},{"type":"Done","status":"Unknown","reason":"Waits"}]}}`)
		_, _ = dyn.Resource(widgets.GroupVersion().WithResource("widgets")).Namespace("default").Patch(ctx, "sample",
			types.MergePatchType, text, metav1.PatchOptions{}, "status")
		<-ctx.Done()
		return nil
	})
	shows(t, planned(t, s), "\n  status      no license, no secret, Waits\n")
}

// A program that only edits an existing object, and is never shown the sample, has done nothing for the sample.
func TestNeverSeesItsSample(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.Controller = needy(func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		_, err = dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Patch(ctx, "default",
			types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{})
		<-ctx.Done()
		return err
	})
	_, err := check.Prepare(t.Context(), s)
	if idle := (*check.Idle)(nil); !errors.As(err, &idle) || !strings.Contains(err.Error(), "it does not watch Widget") {
		t.Error(err)
	}
}

// If a program does the same with the sample as without it, it has done nothing for the sample.
func TestDoesWithoutASample(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.Controller = needy(func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil })
	_, err := check.Prepare(t.Context(), s)
	want := "it did nothing for its owner: in a world with widget/sample needy has written only what it writes " +
		"without that object"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	s.Controller = needy(func(ctx context.Context, cfg *rest.Config) error {
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		event := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Event", "reason": "NotFound",
			"message": "no secret", "metadata": map[string]any{"generateName": "e"}, "involvedObject": map[string]any{
				"kind": "Widget", "namespace": "default", "name": "sample"}}}
		if _, none := (client{dynamic: dyn}).Get(ctx, widgets, "default", "sample"); none == nil {
			_, err = dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace("default").Create(ctx,
				event, metav1.CreateOptions{})
		}
		<-ctx.Done()
		return err
	})
	_, err = check.Prepare(t.Context(), s)
	if want := "; its last Event: NotFound: no secret"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("with an Event: got %v, want %s", err, want)
	}
}

// An interrupted check begins no more quiet worlds.
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

// A patched CRD in the install manifests is used in every world, even if another file has it without the patch.
func TestInstalledDefinitionIsPatched(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.CRDs[0].Objects[0].SetLabels(map[string]string{"patched": "yes"})
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	s.Controller = beside(func(ctx context.Context, dyn *dynamic.DynamicClient) error {
		crd, err := dyn.Resource(crds).Get(ctx, s.CRDs[0].Objects[0].GetName(), metav1.GetOptions{})
		if err == nil && crd.GetLabels()["patched"] == "" {
			err = errors.New("the definition is not patched")
		}
		return err
	})
	finds(t, planned(t, s), "one-owner", "")
}

// When Hurry returns true, even in the middle of a quiet run, no more facts are found out. The plan names these facts. It
// leaves out the cases that need them, and the other cases still find no violation.
func TestHurry(t *testing.T) {
	for after := 0; ; after = 3*after + 1000 {
		s, asked, runs := installedSubject(t, wrong{}), 0, 0
		s.Hurry = func() bool {
			asked++
			return asked > after
		}
		s.Tell = func(fact string) {
			if asked > after && fact != "what it creates" && fact != "which cases are possible" {
				runs++
			}
		}
		plan := planned(t, s)
		if asked <= after {
			break
		}
		if runs > 0 {
			t.Errorf("%d quiet runs begin when no time is left", runs)
		}
		shows(t, plan, "no time was left to find out ", "which values it chooses for each owner")
		for i := range plan.Cases {
			c := &plan.Cases[i]
			if c.Late != strings.HasPrefix(c.Skip, "no time was left to find out ") {
				t.Errorf("%s: %t, %s", c.Name, c.Late, c.Skip)
			}
			if c.Skip == "" {
				finds(t, plan, c.Name, "")
			}
		}
		if after > 0 {
			continue
		}
		shows(t, plan, "which fields it follows, ")
		for _, name := range []string{"edit", "name-taken", "recreated/orphan", "dependent-deleted"} {
			if !caseOf(plan, name).Late || strings.Contains(plan.String(), "  follows ") {
				t.Errorf("%s: %s\n%s", name, caseOf(plan, name).Skip, plan)
			}
		}
		for _, v := range plan.Verdicts(nil) {
			if v.ID == "ADOPT-5" && v.State != check.NotJudged {
				t.Errorf("%s %s: %s", v.Name, v.State, v.Why)
			}
		}
	}
}

// For an operator that uses ConfigMaps, Secrets and ServiceAccounts, the rival has another kind.
func TestRivalOfAnotherKind(t *testing.T) {
	s := installedSubject(t, wrong{})
	for _, o := range manifests(t, "more.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\n"+
		"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: default}\n").Objects {
		s.Installed = append(s.Installed, o.Unstructured)
	}
	s.Controller = beside(func(ctx context.Context, dyn *dynamic.DynamicClient) error {
		factory := bubble.DynamicInformers(dyn, 0)
		for _, kind := range []string{"secrets", "serviceaccounts"} {
			factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: kind}).Informer()
		}
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		return nil
	})
	plan := planned(t, s)
	finds(t, plan, "somebody-elses", "")
	if text := placed(t, plan, "somebody-elses").World; !strings.Contains(text, "NetworkPolicy") {
		t.Errorf("the rival is no NetworkPolicy:\n%s", text)
	}
}

// A right program may poll every second for an object that only another controller would create.
func TestPollingProgram(t *testing.T) {
	s := installedSubject(t, wrong{})
	s.Controller = beside(func(ctx context.Context, dyn *dynamic.DynamicClient) error {
		go func() {
			for ctx.Err() == nil {
				_, _ = client{dynamic: dyn}.Get(ctx, parts, "default", "claim")
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		}()
		return nil
	})
	plan := planned(t, s)
	if plan.Unsettled != "" {
		t.Fatalf("the world does not settle:\n%s", plan)
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
