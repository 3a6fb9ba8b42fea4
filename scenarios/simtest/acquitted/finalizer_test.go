package acquitted_test

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

const finalizer = "example.com/clean-up"

// finalizers keeps spec.replicas ConfigMaps for each App, and an account for it in another namespace, which no
// reference can reach. Its finalizer holds the App until both are gone.
var finalizers = host.Controller{
	Name: "finalizers", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Contract: law.Contract{
		Replicas: replicas, Finalizers: []string{finalizer},
	},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New:    operator(syncFinalizers),
}

func syncFinalizers(ctx context.Context, c client, key string) error {
	app := c.app(key)
	if app == nil {
		return nil
	}
	var own []*corev1.ConfigMap
	for _, m := range all[*corev1.ConfigMap](c, configMaps, app.Namespace, nil) {
		if metav1.IsControlledBy(m, app) {
			own = append(own, m)
		}
	}
	if app.DeletionTimestamp != nil {
		return cleanUp(ctx, c, app, own)
	}
	if !slices.Contains(app.Finalizers, finalizer) {
		app.Finalizers = append(app.Finalizers, finalizer)
		return c.updateApp(ctx, app) // its event requeues the key
	}
	if _, err := c.Create(ctx, account(app)); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, m := range own {
		var i int64
		if _, err := fmt.Sscanf(m.Name, app.Name+"-%d", &i); err == nil && i >= app.Spec.Replicas &&
			m.DeletionTimestamp == nil {
			if err := c.remove(ctx, configMaps, m); err != nil {
				return err
			}
		}
	}
	for i := range app.Spec.Replicas {
		m := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: fmt.Sprintf("%s-%d", app.Name, i)}}
		if _, ok := cached[*corev1.ConfigMap](c, configMaps, m.Namespace, m.Name); ok {
			continue
		}
		if err := controlled(app, m); err != nil {
			return err
		}
		if _, err := c.Create(ctx, m); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// cleanUp removes the finalizer when nothing is left. Until then the deletion of each ConfigMap requeues the key.
func cleanUp(ctx context.Context, c client, app *App, own []*corev1.ConfigMap) error {
	if !slices.Contains(app.Finalizers, finalizer) {
		return nil
	}
	for _, m := range own {
		if err := c.remove(ctx, configMaps, m); err != nil {
			return err
		}
	}
	if len(own) > 0 {
		return nil
	}
	err := ignoreNotFound(c.Delete(ctx, secrets, "accounts", account(app).Name, metav1.DeleteOptions{}))
	if err != nil {
		return err
	}
	app.Finalizers = slices.DeleteFunc(app.Finalizers, func(f string) bool { return f == finalizer })
	return c.updateApp(ctx, app)
}

func account(app *App) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "accounts", Name: app.Namespace + "-" + app.Name}}
}

func finalizersCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{finalizers}, With: []string{"gc"},
		World: world("a", 2) + "---\n" + world("b", 1) +
			"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: accounts}\n",
		User: []simtest.Action{
			simtest.Verb("scale app/a replicas=1"),
			simtest.Verb("delete cm/a-0"),
			simtest.Verb("label cm/b-0 tier=front"),
			simtest.Verb("delete app/b"),
		},
		AtRest: func(user host.Client) error {
			if err := count(user, secrets, "accounts", 1); err != nil {
				return err
			}
			return owned(user, configMaps)
		},
	}
}
