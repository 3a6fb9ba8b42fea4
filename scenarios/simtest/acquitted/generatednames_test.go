package acquitted_test

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// generated keeps spec.replicas ConfigMaps with server-generated names. It counts them live before it creates or
// deletes.
var generated = host.Controller{
	Name: "generated", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Contract: law.Contract{Replicas: replicas},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		list, err := c.List(ctx, configMaps, app.Namespace, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var own []runtime.Object
		for _, o := range list {
			if metav1.IsControlledBy(o.(metav1.Object), app) && o.(metav1.Object).GetDeletionTimestamp() == nil {
				own = append(own, o)
			}
		}
		for i := len(own); i > int(app.Spec.Replicas); i-- {
			if err := c.remove(ctx, configMaps, own[i-1].(*corev1.ConfigMap)); err != nil {
				return err
			}
		}
		for range int(app.Spec.Replicas) - len(own) {
			m := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, GenerateName: app.Name + "-"}}
			if err := controlled(app, m); err != nil {
				return err
			}
			if _, err := c.Create(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}),
}

func generatedCase() simtest.Case {
	c := finalizersCase()
	c.Controllers = []host.Controller{generated}
	c.AtRest = nil
	// these name children
	c.User = slices.DeleteFunc(c.User, func(a simtest.Action) bool { return a.Do == nil })
	return c
}
