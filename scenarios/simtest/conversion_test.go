package simtest_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

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
