package simtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

type syncOf func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error

// planted returns the page's controller with another sync function.
func planted(name string, sync syncOf) host.Controller {
	c := Keeper
	c.Name = name
	c.New = func(env *host.Env) host.Reconciler {
		maps := env.Informer(configMaps).GetIndexer()
		env.Informer(secrets)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			o, ok, _ := maps.GetByKey(key)
			if !ok {
				return nil
			}
			return sync(ctx, env, o.(*corev1.ConfigMap))
		})
	}
	return c
}

// Retries for an object that no controller can handle never stop. With a time limit, the world is judged anyway.
// Retries with backoff pass, and a controller that retries without delay is reported.
func TestObjectThatNoControllerHandles(t *testing.T) {
	tries := func(after func(*host.Env, string)) syncOf {
		return func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
			if m.Name != "bad" {
				return keep(ctx, env, m)
			}
			s := secret(m)
			s.Name = "No_Name"
			_, err := env.Client.Create(ctx, s)
			if after != nil {
				after(env, "default/"+m.Name)
			}
			return err
		}
	}
	looks := func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
		if err := tries(nil)(ctx, env, m); err != nil {
			env.Queue.AddAfter("default/"+m.Name, time.Second)
		}
		return nil
	}
	stops := func(context.Context, *host.Env, *corev1.ConfigMap) error { return errors.New("there is a bad one") }
	forgets := func(env *host.Env, key string) { env.Queue.Forget(key) }
	for name, c := range map[string]struct {
		sync    syncOf
		profile law.Profile
		given   time.Duration
		law     string
	}{
		"waits longer":                    {tries(nil), law.Writing, time.Hour, ""},
		"waits longer, and no time given": {tries(nil), law.Ownership, 0, "always-settle"},
		"hardly waits":                    {tries(forgets), law.Writing, time.Hour, "retry-errors"},
		"keeps the others waiting":        {stops, law.Ownership, time.Hour, "exact-sum"},
		"waits a second each time":        {looks, law.Writing, 10 * time.Minute, ""},
		"hardly waits, not exercised":     {tries(forgets), law.Ownership, time.Minute, "always-settle"},
	} {
		t.Run(name, func(t *testing.T) {
			k := planted("tries", c.sync)
			k.Contract.Profile = c.profile
			k.Contract.Replicas = func(o runtime.Object) int {
				return map[string]int{"a": 1, "bad": -1}[o.(*corev1.ConfigMap).Name]
			}
			x, err := (&simtest.Case{Controllers: []host.Controller{k}, For: c.given, Schedules: 20, World: `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: bad}
`}).Explore(t.Context(), "w")
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.law == "" && len(x.Failures) > 0:
				t.Errorf("broken:\n%s", x.Failures[0].Page.Text())
			case c.law != "" && (len(x.Failures) == 0 || x.Failures[0].Law != c.law):
				t.Errorf("%s is not the first violated law: %+v", c.law, x.Failures)
			}
		})
	}
}
