package simtest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

type syncOf func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error

// planted returns the page's controller with another sync.
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

// writes is a sync that writes one value into a field.
func writes(v string) syncOf {
	return func(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
		if m.Data["v"] == v || m.DeletionTimestamp != nil {
			return keep(ctx, env, m)
		}
		m = m.DeepCopy()
		m.Data = map[string]string{"v": v}
		_, err := env.Client.Update(ctx, m)
		return err
	}
}

// overdoes creates a Secret with a generated name if its cache shows none of its own.
func overdoes(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
	for _, o := range env.Informer(secrets).GetIndexer().List() {
		if metav1.IsControlledBy(o.(metav1.Object), m) {
			return nil
		}
	}
	if m.DeletionTimestamp != nil {
		return nil
	}
	s := secret(m)
	s.Name, s.GenerateName = "", m.Name+"-"
	_, err := env.Client.Create(ctx, s)
	return err
}

// leaves adds a finalizer and never removes it; it does not declare it.
func leaves(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
	if m.DeletionTimestamp != nil || len(m.Finalizers) > 0 {
		return keepAlive(ctx, env, m)
	}
	m = m.DeepCopy()
	m.Finalizers = []string{"example.com/mine"}
	_, err := env.Client.Update(ctx, m)
	return err
}

func keepAlive(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
	if m.DeletionTimestamp != nil {
		return nil
	}
	return keep(ctx, env, m)
}

// In the world of the page's sample, five wrong controllers fail. Each violates the law about its bug, and gets a page
// and a file.
func TestPlanted(t *testing.T) {
	for _, x := range []struct {
		name, law   string
		controllers []host.Controller
	}{
		{"does nothing", "exact-sum",
			[]host.Controller{
				planted("keeper", func(context.Context, *host.Env, *corev1.ConfigMap) error { return nil })}},
		{"panics", "never-panic",
			[]host.Controller{
				planted("keeper", func(context.Context, *host.Env, *corev1.ConfigMap) error { panic("no luck") })}},
		{"fight over a field", "never-fight",
			[]host.Controller{planted("ones", writes("1")), planted("twos", writes("2"))}},
		{"overdoes", "never-too-many", []host.Controller{planted("keeper", overdoes)}},
		{"leaves a finalizer", "nothing-stays-terminating", []host.Controller{planted("keeper", leaves)}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := simtest.Case{
				Controllers: x.controllers, With: []string{"gc"}, Schedules: 300,
				World: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: " +
					"ConfigMap\nmetadata: {name: b}\n",
				User: []simtest.Action{simtest.Verb("label cm/b tier=front"), simtest.Verb("delete cm/a")},
			}
			e, err := c.Explore(t.Context(), t.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range e.Failures {
				if f.Law == x.law && f.Page.Text() != "" && len(f.File) > 0 {
					return
				}
			}
			t.Errorf("want %s: %s", x.law, e.Text())
		})
	}
}

// For a controller whose keys name no object of its kind, numbers cannot be checked. A run without violations is then
// no pass.
func TestKeysOfNoObject(t *testing.T) {
	one := Keeper
	one.Routes = []host.Route{{Kind: configMaps, Do: func(_ host.View, _ host.Event, out *host.Effect) {
		out.Keys = append(out.Keys, "all")
	}}}
	one.New = func(env *host.Env) host.Reconciler {
		maps := env.Informer(configMaps).GetIndexer()
		return host.SyncFunc(func(ctx context.Context, _ string) error {
			for _, o := range maps.List() {
				if err := keep(ctx, env, o.(*corev1.ConfigMap)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	c := simtest.Case{Controllers: []host.Controller{one}, Schedules: 10,
		World: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "no key that keeper synced names a ConfigMap: how many it makes and deletes for each was not asked; keys " +
		"are namespace/name"
	if got := c.Unasked(x); len(x.Failures) > 0 || len(got) != 1 || got[0] != want {
		t.Errorf("got %q, and %s", got, x.Text())
	}
}
