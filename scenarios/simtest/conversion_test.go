package simtest_test

import (
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

const labels = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: labels}
webhooks:
- name: labels.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: https://labels.example.com/}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`

type answer = func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

func label(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	patch := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, PatchType: &patch,
		Patch: []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"keep": "yes"}}]`)}
}

// The world's webhooks run: the controller keeps a Secret for what one of them labels.
func TestWebhooks(t *testing.T) {
	c := simtest.Case{
		Controllers: []host.Controller{keeper(keep)},
		World:       labels,
		Server:      &fakeapi.Options{Webhooks: map[string]answer{"labels.example.com": label}},
		User: []simtest.Action{{Name: "ask", Do: func(user host.Client) error {
			_, err := user.Create(t.Context(), &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
			return err
		}}},
		Settled: func(user host.Client) error {
			_, err := user.Get(t.Context(), secrets, "default", "a")
			return err
		},
		Schedules: 50,
	}
	simtest.Check(t, c)
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

// A conversion that fails for a watcher is a mistake in the case, and is reported as one.
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
