package acquitted_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// collections cleans up with one request for everything labelled with the App's uid.
var collections = host.Controller{
	Name: "collections", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Contract: law.Contract{Finalizers: []string{finalizer}},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil {
			return nil
		}
		if app.DeletionTimestamp == nil {
			return syncFinalizersLabelled(ctx, c, app)
		}
		if len(app.Finalizers) == 0 {
			return nil
		}
		_, err := c.Do(ctx,
			&fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: c.kind(configMaps), Namespace: app.Namespace,
				List: metav1.ListOptions{LabelSelector: labels.Set{"uid": string(app.UID)}.String()}})
		if err != nil {
			return err
		}
		err = ignoreNotFound(c.Delete(ctx, secrets, "accounts", account(app).Name, metav1.DeleteOptions{}))
		if err != nil {
			return err
		}
		app.Finalizers = nil
		return c.updateApp(ctx, app)
	}),
}

func syncFinalizersLabelled(ctx context.Context, c client, app *App) error {
	if len(app.Finalizers) == 0 {
		app.Finalizers = []string{finalizer}
		return c.updateApp(ctx, app)
	}
	if _, err := c.Create(ctx, account(app)); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	m := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-0",
			Labels: map[string]string{"uid": string(app.UID)}}}
	if _, ok := cached[*corev1.ConfigMap](c, configMaps, m.Namespace, m.Name); ok {
		return nil
	}
	if err := controlled(app, m); err != nil {
		return err
	}
	if _, err := c.Create(ctx, m); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
