package acquitted_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// fixedNames keeps one ConfigMap for each App, by a name derived from the App's, so there are never two. If the
// existing one is not its own, it leaves it alone and reports it.
var fixedNames = host.Controller{
	Name: "fixed-names", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps),
		mapped(configMaps, func(_ host.View, o metav1.Object) []string {
			return []string{keyOf(o)} // also of another object by that name
		})},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		m, ok := cached[*corev1.ConfigMap](c, configMaps, app.Namespace, app.Name)
		if !ok {
			m = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
			if err := controlled(app, m); err != nil {
				return err
			}
			if _, err := c.Create(ctx, m); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
			return nil // the cache will show it
		}
		phase := "Ready"
		if !metav1.IsControlledBy(m, app) {
			phase = "NameTaken"
		}
		if app.Status.Phase == phase {
			return nil
		}
		app.Status.Phase = phase
		return c.updateAppStatus(ctx, app)
	}),
}

func fixedNamesCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{fixedNames}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
		User: []simtest.Action{
			simtest.Verb("delete cm/b"),
			simtest.Verb("delete cm/a"),
			simtest.Verb("label cm/a x=y"),
			simtest.Verb("delete app/a"),
			again("a"),
		},
		AtRest: func(user host.Client) error {
			if err := owned(user, configMaps); err != nil {
				return err
			}
			return eachApp(user, func(a *App) error {
				if a.Status.Phase != "Ready" {
					return fmt.Errorf("%s is %q", a.Name, a.Status.Phase)
				}
				return nil
			})
		},
	}
}
