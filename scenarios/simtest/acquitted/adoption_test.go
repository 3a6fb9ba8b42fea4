package acquitted_test

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// adoptions gathers the ConfigMaps that are labelled with an App's name. It adopts orphans, releases those that lost
// the label, and counts the rest. Each update carries the resourceVersion that it read.
var adoptions = host.Controller{
	Name: "adoptions", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Contract: law.Contract{
		Selector: func(o runtime.Object) labels.Selector { return named(o.(metav1.Object).GetName()) },
	},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps),
		mapped(configMaps, func(_ host.View, o metav1.Object) []string {
			if name := o.GetLabels()["app"]; name != "" {
				return []string{o.GetNamespace() + "/" + name}
			}
			return nil
		})},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		n := int64(0)
		for _, m := range all[*corev1.ConfigMap](c, configMaps, app.Namespace, nil) {
			own, matches := metav1.IsControlledBy(m, app), named(app.Name).Matches(labels.Set(m.Labels))
			if own && matches {
				n++
			}
			if own == matches || m.DeletionTimestamp != nil || !own && metav1.GetControllerOf(m) != nil {
				continue
			}
			m.OwnerReferences =
				slices.DeleteFunc(m.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == app.UID })
			if matches {
				m.OwnerReferences = append(m.OwnerReferences, *metav1.NewControllerRef(app, appKind))
			}
			if _, err := c.Update(ctx, m); err != nil {
				return ignoreNotFound(err) // an event will requeue the key
			}
		}
		if app.Status.Replicas == n {
			return nil
		}
		app.Status.Replicas = n
		return c.updateAppStatus(ctx, app)
	}),
}

func named(app string) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": app}) }

func adoptionsCase() simtest.Case {
	maps := ""
	for _, name := range []string{"x", "y", "z"} {
		maps += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", labels: {app: a}}\n"
	}
	return simtest.Case{
		Controllers: []host.Controller{adoptions}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1) + maps,
		User: []simtest.Action{
			simtest.Verb("label cm/x app=b"),
			simtest.Verb("label cm/y app-"),
			simtest.Verb("delete cm/z"),
			simtest.Verb("patch cm/x type=merge '{data: {k: v}}'"),
			simtest.Verb("delete app/b --cascade=orphan"),
		},
		AtRest: func(user host.Client) error {
			maps, err := user.List(context.Background(), configMaps, "default", metav1.ListOptions{})
			if err != nil {
				return err
			}
			return eachApp(user, func(a *App) error {
				n := 0
				for _, m := range maps {
					if metav1.IsControlledBy(m.(metav1.Object), a) {
						n++
					} else if m.(metav1.Object).GetLabels()["app"] == a.Name {
						return fmt.Errorf("cm/%s is left an orphan", m.(metav1.Object).GetName())
					}
				}
				if a.Status.Replicas != int64(n) {
					return fmt.Errorf("%s has %d, says %d", a.Name, n, a.Status.Replicas)
				}
				return nil
			})
		},
	}
}
