package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

// keeper returns a controller that creates one Secret with a fixed name for each ConfigMap with the label keep=yes.
func keeper(sync func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error) host.Controller {
	return host.Controller{
		Name: "keeper", For: configMaps, Owns: []schema.GroupVersionKind{secrets},
		Contract: law.Contract{
			Replicas: func(o runtime.Object) int {
				if o.(*corev1.ConfigMap).Labels["keep"] == "yes" {
					return 1
				}
				return 0
			},
		},
		Routes: []host.Route{
			{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
				if e.New != nil {
					out.Keys = append(out.Keys, "default/"+e.New.(*corev1.ConfigMap).Name)
				}
			}},
			{Kind: secrets, Do: func(_ host.View, e host.Event, out *host.Effect) {
				o := e.New
				if o == nil {
					o = e.Old
				}
				if c := metav1.GetControllerOf(o.(*corev1.Secret)); c != nil {
					out.Keys = append(out.Keys, "default/"+c.Name)
				}
			}},
		},
		New: func(env *host.Env) host.Reconciler {
			maps := env.Informer(configMaps).GetIndexer()
			env.Informer(secrets)
			return host.SyncFunc(func(ctx context.Context, key string) error {
				o, ok, _ := maps.GetByKey(key)
				if !ok || o.(*corev1.ConfigMap).Labels["keep"] != "yes" ||
					o.(*corev1.ConfigMap).DeletionTimestamp != nil {
					return nil
				}
				return sync(ctx, env, o.(*corev1.ConfigMap))
			})
		},
	}
}

// keep creates the Secret if the cache does not contain it.
func keep(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
	if _, ok, _ := env.Informer(secrets).GetIndexer().GetByKey("default/" + m.Name); ok {
		return nil
	}
	_, err := env.Client.Create(ctx, secret(m))
	if err != nil && strings.Contains(err.Error(), "already exists") {
		return nil // the cache does not contain it yet
	}
	return err
}

func secret(m *corev1.ConfigMap) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: m.Name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, configMaps)}}}
}

var kept = &corev1.ConfigMap{
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"keep": "yes"}}}

// everyMapHasItsSecret returns an error if a ConfigMap has no Secret.
func everyMapHasItsSecret(user host.Client) error {
	maps, err := user.List(context.Background(), configMaps, "default", metav1.ListOptions{LabelSelector: "keep=yes"})
	if err != nil {
		return err
	}
	for _, m := range maps {
		name := m.(*corev1.ConfigMap).Name
		if _, err := user.Get(context.Background(), secrets, "default", name); err != nil {
			return fmt.Errorf("cm/%s has no secret: %w", name, err)
		}
	}
	return nil
}

func keeping(c host.Controller) simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{c}, With: []string{"gc"}, Objects: []runtime.Object{kept},
		User: []simtest.Action{
			simtest.Verb("delete secret/a"),
			simtest.Do("make-another", func(user host.Client) error {
				_, err := user.Create(context.Background(),
					&corev1.ConfigMap{
						ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b", Labels: kept.Labels}})
				return err
			}),
		},
		Settled: everyMapHasItsSecret, Faults: map[string]int{"crash": 1, "lost": 1, "error": 1, "relist": 1},
		Schedules: 300,
	}
}

func TestCheckPasses(t *testing.T) { simtest.Check(t, keeping(keeper(keep))) }

// Check finds each of these failures. A hand-written test in an earlier README missed them.
func TestCheckFails(t *testing.T) {
	nothing := func(context.Context, *host.Env, *corev1.ConfigMap) error { return nil }
	undeclared := keeper(nothing)
	undeclared.Contract.Replicas = nil
	for _, c := range []struct {
		name string
		c    simtest.Case
		law  string
	}{
		{"does nothing", keeping(keeper(nothing)), "exact-sum"},
		{"does nothing, and does not say what is wanted", keeping(undeclared), "expect"},
		{"panics", keeping(keeper(func(context.Context, *host.Env, *corev1.ConfigMap) error { panic("no luck") })),
			"never-panic"},
		{"fails", keeping(
			keeper(func(context.Context, *host.Env, *corev1.ConfigMap) error { return errors.New("no luck") })),
			"always-settle"},
		{"takes no ownership", keeping(keeper(func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
			if _, ok, _ := env.Informer(secrets).GetIndexer().GetByKey("default/" + m.Name); ok {
				return nil
			}
			s := secret(m)
			s.OwnerReferences = nil
			_, err := env.Client.Create(ctx, s)
			return err
		})), "take-ownership"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := c.c.Explore(t.Context(), t.Name())
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Failures) == 0 || x.Failures[0].Law != c.law {
				t.Errorf("want %s: %s", c.law, x.Text())
			} else if at := "no luck, at simtest/check_test.go:"; c.name == "panics" &&
				!strings.Contains(x.Failures[0].Text, at) {
				t.Errorf("the place is missing: %s", x.Failures[0].Text)
			}
		})
	}
}
