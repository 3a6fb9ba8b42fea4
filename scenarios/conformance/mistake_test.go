package conformance

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// A mistake in a subject is reported in one line, before anything is explored.
func TestMistakes(t *testing.T) {
	good, err := os.ReadFile("testdata/widget.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crds := func(text string) func(s *Subject) {
		return func(s *Subject) { s.CRDs = fstest.MapFS{"bases/w.yaml": {Data: []byte(text)}} }
	}
	for name, x := range map[string]struct {
		change func(s *Subject)
		sample string // used instead of the good sample
		want   string
	}{
		"nothing to try": {func(s *Subject) { s.Controller = host.Controller{} }, "", "conformance.Subject: there is nothing to try"},
		"a program and no sample": {func(s *Subject) {
			s.Controller, s.Samples = host.Controller{}, nil
			s.Run = func(context.Context, *rest.Config) error { return nil }
		}, "", "conformance.Subject: Samples is empty: name a YAML file with a sample of the kind that it works on"},
		"a program that returns": {func(s *Subject) {
			s.Controller = host.Controller{}
			s.Run = func(context.Context, *rest.Config) error { return errors.New("no flags") }
		}, "", "it did nothing for its owner: in a world with widget/sample program has written nothing (the program " +
			"returned: no flags)"},
		"a program without the controller": {func(s *Subject) {
			s.Controller = host.Controller{}
			s.Run = func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }
		}, "", "it did nothing for its owner: in a world with widget/sample program has written nothing (0 requests, " +
			"none of which was refused; it does not watch Widget)"},
		"a program that looks for what is not there": {func(s *Subject) {
			s.Controller = host.Controller{}
			s.Run = func(ctx context.Context, c *rest.Config) error {
				client, err := dynamic.NewForConfig(c)
				if err != nil {
					return err
				}
				secrets := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"})
				if _, err := secrets.List(ctx, metav1.ListOptions{}); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			}
		}, "", "it did nothing for its owner: in a world with widget/sample program has written nothing (1 requests, " +
			"none of which was refused; it does not watch Widget); it found no Secret"},
		"a program that requests a page that is not served": {func(s *Subject) {
			s.Controller = host.Controller{}
			s.Run = func(_ context.Context, c *rest.Config) error {
				client, err := rest.HTTPClientFor(c)
				if err != nil {
					return err
				}
				for range 2 {
					resp, err := client.Get(c.Host + "/statusz")
					if err != nil {
						return err
					}
					resp.Body.Close()
				}
				return errors.New("no status")
			}
		}, "", "it did nothing for its owner: in a world with widget/sample program has written nothing (the program " +
			"returned: no status); the simulated server does not serve /statusz"},
		"a sample that only a webhook can convert": {func(s *Subject) {
			s.Controller = host.Controller{}
			s.Run = func(context.Context, *rest.Config) error { return nil }
			crds(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://hook/convert"}}}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`)(s)
		}, "apiVersion: example.com/v1beta1\nkind: Widget\nmetadata: {name: a}\n",
			"SAMPLE:1: widget/a has the version v1beta1, but its CRD stores v1: the server refuses it: conversion webhook for " +
				"example.com/v1beta1, Kind=Widget failed: nobody converts widgets.example.com here: Options.Convert has no function " +
				"for Widget.example.com, and webhooks are called by threelaws serve alone: write the sample in version v1"},
		"both": {func(s *Subject) { s.Run = func(context.Context, *rest.Config) error { return nil } }, "",
			"conformance.Subject: Run and Controller exclude each other"},
		"no kind": {func(s *Subject) { s.Controller.For = schema.GroupVersionKind{} }, "",
			"conformance.Subject: Controller: controller widget: For is empty"},
		"no sample": {func(s *Subject) { s.Samples = nil }, "", "conformance.Subject: Samples is empty: name a YAML file with a sample Widget"},
		"no such file": {func(s *Subject) { s.Samples = []string{"testdata/gadget.yaml"} }, "",
			"conformance.Subject: Samples: testdata/gadget.yaml is not there: paths are relative to the package's"},
		"a field is missing": {nil,
			"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {color: red}\n",
			`SAMPLE:4: the server refuses widget/a: spec.size: Required value`},
		"a wrong value": {nil, "# a comment\n---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n" +
			"  color: red\n  size: -1\n", `SAMPLE:8: the server refuses widget/a: spec.size: Invalid value: -1: `},
		"a field too much": {nil, strings.Replace(string(good), "color", "colour", 1),
			"SAMPLE:5: widget/sample: there is no field spec.colour; did you mean color?"},
		"the wrong kind": {nil, "# none\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
			"SAMPLE: it holds no example.com/v1 Widget, on which widget works, but v1 ConfigMap"},
		"an empty sample": {nil, "# none\n", "SAMPLE: it holds no example.com/v1 Widget, on which widget works, but " +
			"nothing at all"},
		"a kind mistyped": {nil, strings.Replace(string(good), "Widget\n", "Widgte\n", 1),
			"SAMPLE:1: no server here serves example.com/v1 Widgte; did you mean example.com/v1 Widget?"},
		"no name": {nil, strings.Replace(string(good), "name: sample", "labels: {a: b}", 1),
			"SAMPLE:1: the Widget has no metadata.name"},
		"broken YAML": {nil, "# a comment\n---\nkind: [Widget\n", "SAMPLE:3: yaml: line"},
		"no definition": {func(s *Subject) { s.CRDs = nil }, "",
			"testdata/widget.yaml:1: no server here serves example.com/v1 Widget: its CRD is missing: name it " +
				"with --crds, or in the field CRDs of a Go test"},
		"another definition": {crds("kind: Kustomization\n"), "",
			"conformance.Subject: CRDs: no file *.yaml of it holds a CustomResourceDefinition"},
		"a broken definition": {crds("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: " +
			"{name: w}\nspec: {}\n"), "", "conformance.Subject: CRDs: bases/w.yaml:3: the server refuses crd/w: "},
		"broken YAML of a definition": {crds("---\na: [\n"), "", "conformance.Subject: CRDs: bases/w.yaml:2: yaml: line"},
		"a kind that nobody serves": {func(s *Subject) {
			s.Controller.Owns = []schema.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: "Gadget"}}
		}, "", "conformance.Subject: Controller: widget works on Gadget of example.com/v1, which is not served"},
		"nobody of that name": {func(s *Subject) { s.With = []string{"replicset"} }, "",
			"conformance.Subject: With[0]: unknown controller replicset; did you mean replicaset?"},
		"it does nothing": {func(s *Subject) { s.Controller = widget(true, wrong{nothing: true}) }, "",
			"it did nothing for its owner: in a world with widget/sample widget has written nothing (1 syncs, none " +
				"of which failed)"},
		"nothing wakes it": {func(s *Subject) { s.Controller.Routes = nil }, "",
			"it did nothing for its owner: in a world with widget/sample widget has written nothing (no event " +
				"brought it to a sync: look at Routes)"},
		"it is hosted wrongly": {func(s *Subject) {
			s.Controller.New = func(*host.Env) host.Reconciler {
				return host.SyncFunc(func(context.Context, string) error { panic(host.Misuse("Gadget is not declared")) })
			}
		}, "", "host: Gadget is not declared"},
		"it makes nothing": {func(s *Subject) {
			s.Controller.New = func(*host.Env) host.Reconciler { return nil }
		}, "", "host: controller widget: New returned nil"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sample(widget(false, wrong{}))
			if x.sample != "" {
				s.Samples = []string{sampleFile(t, x.sample)}
			}
			if x.change != nil {
				x.change(&s)
			}
			got := "no mistake"
			if _, err := s.prepare(s.first()); err != nil {
				got = err.Error()
			}
			want := strings.ReplaceAll(x.want, "SAMPLE", s.first())
			if !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Skipped laws and cases are listed with their reasons. Violations of a skipped law are not reported.
func TestSkip(t *testing.T) {
	s := sample(widget(false, wrong{shares: true}))
	s.Skip = map[string]string{"dont-interfere": "issue 12", "faults": "slow"}
	plan := prepared(t, s)
	cases := explored(t, plan, "orphan")
	if slices.Contains(laws(cases[0].X), "dont-interfere") {
		t.Error("a law that is skipped is reported")
	}
	for _, v := range plan.Verdicts(cases) {
		if v.Name == "dont-interfere" && (v.State != check.Skipped || v.Why != "issue 12") {
			t.Errorf("the skipped law dont-interfere is %s: %s", v.State, v.Why)
		}
	}
	if c := caseOf(plan, "faults"); c.Skip != "slow" {
		t.Errorf("the case faults is skipped with the reason %q", c.Skip)
	}
}

// Only the first of several objects of the same kind in a file is tried.
func TestSampleOfSeveralObjects(t *testing.T) {
	s := subjectOf(t, by((*at).plot)...)
	s.Samples = []string{sampleFile(t, gardenOf("{size: 1}")+"---\n"+strings.Replace(gardenOf("{size: 2}"), "name: web", "name: other", 1))}
	want := ":6: garden/other is left out: only the first Garden of a file is tried"
	if notes := prepared(t, s).Notes; len(notes) != 1 || !strings.HasSuffix(notes[0], want) {
		t.Errorf("the notes are %q, want one that ends with %q", notes, want)
	}
}

// An accepted violation does not fail the test. The same violation in another case does.
func TestAccept(t *testing.T) {
	s := sample(widget(false, wrong{shares: true}))
	s.Accept = []Accept{{Law: "dont-interfere", Case: "orphan", Reason: "issue 12"}}
	r := &running{Subject: s}
	plan := prepared(t, s)
	for _, x := range []struct {
		of    string
		known bool
	}{{"orphan", true}, {"somebody-elses", false}} {
		told := check.Tried{Name: x.of}
		w := r.world(caseOf(plan, x.of), &told)
		if x.known {
			told.X = simtest.Check(t, w)
		} else if told.X, _ = w.Explore(t.Context(), x.of); w.Accept(told.X.Failures[0]) != "" {
			t.Errorf("%s: a violation that is not accepted counts as accepted", x.of)
		}
		if (len(told.Known) > 0) != x.known {
			t.Errorf("%s: the accepted violations are %v", x.of, told.Known)
		}
	}
}

// Settled is called at the end of each world, in addition to the checks of the case.
func TestSettled(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Settled = func(host.Client) error { return errors.New("it is not as it should be") }
	plan := prepared(t, s)
	for _, c := range explored(t, plan, "one-owner", "deleted/background") {
		if len(c.X.Failures) == 0 || !strings.Contains(c.X.Failures[0].Text, "it is not as it should be") {
			t.Errorf("%s: %s", c.Name, c.X.Text())
		}
	}
}

// Edits of the subject are tried first.
func TestEdits(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Edits = []string{"{spec: {size: 3, color: blue}}"}
	shows(t, prepared(t, s), "  follows     Edits[0], with 3 dependents in place of 2\n")
}

// Each of several samples is tested in a subtest, together with other controllers and objects.
func TestSeveral(t *testing.T) {
	s := sample(widget(false, wrong{}))
	set, _ := undeclared(t, "replicaset")
	s.Samples = append(s.Samples, sampleFile(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {size: 1}\n"))
	s.Files = []string{sampleFile(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\n")}
	s.Others, s.Schedules = []host.Controller{set}, 2
	Test(t, s)
}

// When the time is over, the remaining cases are skipped. The first case is always run.
func TestTime(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Time = time.Nanosecond
	Test(t, s)
}
