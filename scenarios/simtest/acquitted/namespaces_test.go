package acquitted_test

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// namespaces keeps for each App a ConfigMap beside it and another in a cluster-wide namespace. The latter cannot have a
// reference to the App: labels name its App, and a finalizer deletes it.
var namespaces = host.Controller{
	Name: "namespaces", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Contract: law.Contract{Finalizers: []string{finalizer}},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps),
		mapped(configMaps, func(_ host.View, o metav1.Object) []string {
			if l := o.GetLabels(); l["app"] != "" {
				return []string{l["app-namespace"] + "/" + l["app"]}
			}
			return nil
		})},
	New: operator(syncNamespaces),
}

func syncNamespaces(ctx context.Context, c client, key string) error {
	app := c.app(key)
	if app == nil {
		return nil
	}
	if app.DeletionTimestamp != nil {
		return c.forget(ctx, app)
	}
	if !slices.Contains(app.Finalizers, finalizer) {
		app.Finalizers = append(app.Finalizers, finalizer)
		return c.updateApp(ctx, app)
	}
	// The garbage collector does not delete the remote object. With an older list, an App that is gone would get one
	// forever.
	now, err := c.Get(ctx, appKind, app.Namespace, app.Name)
	if apierrors.IsNotFound(err) || err == nil && (now.(metav1.Object).GetUID() != app.UID ||
		now.(metav1.Object).GetDeletionTimestamp() != nil) {
		return nil
	}
	if err != nil {
		return err
	}
	far := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: app.Namespace + "-" + app.Name}}
	err = createOrUpdate(ctx, c, configMaps, far, func(m *corev1.ConfigMap) error {
		for k, v := range labelled(app) {
			metav1.SetMetaDataLabel(&m.ObjectMeta, k, v)
		}
		m.Data = map[string]string{"image": app.Spec.Image}
		return nil
	})
	if err != nil {
		return err
	}
	near := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	return createOrUpdate(ctx, c, configMaps, near, func(m *corev1.ConfigMap) error {
		m.Data = map[string]string{"image": app.Spec.Image}
		return controlled(app, m)
	})
}

// forget deletes the remote object and removes the finalizer. It reads live, because an object missing from its cache
// would stay forever.
func (c client) forget(ctx context.Context, app *App) error {
	if !slices.Contains(app.Finalizers, finalizer) {
		return nil
	}
	far, err := c.List(ctx, configMaps, "edge", metav1.ListOptions{LabelSelector: labels.Set(labelled(app)).String()})
	if err != nil {
		return err
	}
	for _, m := range far {
		if err := c.remove(ctx, configMaps, m.(*corev1.ConfigMap)); err != nil {
			return err
		}
	}
	app.Finalizers = slices.DeleteFunc(app.Finalizers, func(f string) bool { return f == finalizer })
	return c.updateApp(ctx, app)
}

func labelled(app *App) map[string]string {
	return map[string]string{"app": app.Name, "app-namespace": app.Namespace}
}

func namespacesCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{namespaces}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1) +
			"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: edge}\n",
		User: []simtest.Action{
			edit("a", func(a *App) { a.Spec.Image = "v2" }),
			simtest.Do("delete-far-away", func(user host.Client) error {
				return ignoreNotFound(
					user.Delete(context.Background(), configMaps, "edge", "default-a", metav1.DeleteOptions{}))
			}),
			simtest.Verb("delete cm/a"),
			simtest.Verb("delete app/b"),
			simtest.Verb("label app/a x=y"),
		},
		AtRest: func(user host.Client) error {
			if err := count(user, configMaps, "edge", 1); err != nil {
				return err
			}
			far, err := user.Get(context.Background(), configMaps, "edge", "default-a")
			if err != nil {
				return err
			}
			if got := far.(*corev1.ConfigMap).Data["image"]; got != "v2" {
				return fmt.Errorf("far away the image is %s", got)
			}
			return owned(user, configMaps)
		},
	}
}
