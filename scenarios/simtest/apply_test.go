package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// The user recreates an object with its manifest.
func TestApply(t *testing.T) {
	again := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {keep: \"yes\"}}\n"
	c := simtest.Case{Controllers: []host.Controller{keeper(keep)}, Objects: []runtime.Object{kept},
		With: []string{"gc"}, User: []simtest.Action{simtest.Verb("delete cm/a"), simtest.Apply(again)}, Schedules: 20,
		Settled: func(user host.Client) error {
			o, err := user.Get(t.Context(), configMaps, "default", "a")
			if err != nil || o.(metav1.Object).GetLabels()["keep"] != "yes" {
				return fmt.Errorf("cm/a was not recreated: %v", err)
			}
			return nil
		}}
	if x := simtest.Check(t, c); x == nil || x.Schedules != 20 {
		t.Errorf("Check returns %v, want 20 schedules", x)
	}
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: ConfigMpa\nmetadata: {name: a}\n": "User[1]:",
		"": "simtest.Case: User[1] is empty",
	} {
		c.User[1] = simtest.Apply(text)
		if _, err := c.File("w"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	c.User[1] = simtest.Action{Verb: "delete cm/a", Manifests: again}
	if _, err := c.File("w"); err == nil || !strings.Contains(err.Error(), "manifests stand alone") {
		t.Errorf("both: got %v", err)
	}
}

// If a Go function fails in every schedule, objects are not removed when the failure is minimized. It would also fail
// without them, and the file would show nothing about the controller.
func TestSettledCheckKeepsItsObjects(t *testing.T) {
	c := simtest.Case{Objects: []runtime.Object{kept}, Schedules: 20,
		Controllers: []host.Controller{keeper(func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
			if m.Annotations["note"] == "" {
				return keep(ctx, env, m)
			}
			bare := m.DeepCopy()
			bare.Annotations = nil
			_, err := env.Client.Update(ctx, bare)
			return err
		})},
		User: []simtest.Action{simtest.Verb("annotate cm/a note=mine"), simtest.Verb("settle")},
		Settled: func(user host.Client) error {
			o, err := user.Get(t.Context(), configMaps, "default", "a")
			if err == nil && o.(metav1.Object).GetAnnotations()["note"] == "" {
				return errors.New("its note is lost")
			}
			return err
		}}
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Failures) != 1 || x.Failures[0].Law != "expect" ||
		!strings.Contains(string(x.Failures[0].File), "\nannotate cm/a note=mine") {
		t.Errorf("the minimized file does not contain the annotation: %s", x.Text())
	}
}

const gauges = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gauge, plural: gauges, singular: gauge}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://gauges.example.com/"}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: example.com/v1
kind: Gauge
metadata: {name: a}
`

// If a conversion fails for a watch, this is reported as a mistake in the case.
func TestConversionThatFails(t *testing.T) {
	one := keeper(keep)
	made := one.New
	one.New = func(env *host.Env) host.Reconciler {
		env.Informer(schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Gauge"})
		return made(env)
	}
	fails := func(*unstructured.Unstructured, schema.GroupVersion) (*unstructured.Unstructured, error) {
		return nil, errors.New("no level")
	}
	c := simtest.Case{Controllers: []host.Controller{one}, World: gauges, Schedules: 1,
		Server: &fakeapi.Options{Convert: map[schema.GroupKind]fakeapi.Convert{
			{Group: "example.com", Kind: "Gauge"}: fails}}}
	want := "simtest.Case: a watch of Gauge in version example.com/v2 cannot be sent default/a: conversion webhook " +
		"for example.com/v1, Kind=Gauge failed: no level: it is no request that could be refused, so a conversion " +
		"has to make something of every object that is stored"
	if _, err := c.Explore(t.Context(), "w"); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
