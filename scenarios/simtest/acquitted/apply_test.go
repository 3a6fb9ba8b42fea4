package acquitted_test

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// applies keeps a ConfigMap of the App's name by server-side apply. Each time it sends the full wanted state, never
// what it read.
var applies = host.Controller{
	Name: "applies", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		m := &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(app, appKind)}},
			Data: map[string]string{"image": app.Spec.Image},
		}
		return c.apply(ctx, configMaps, m, "applies")
	}),
}

// apply is a forced server-side apply.
func (c client) apply(ctx context.Context, kind schema.GroupVersionKind, o object, manager string) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	force := true
	_, err = c.Do(ctx, &fakeapi.Request{
		Verb: fakeapi.Patch, Kind: c.kind(kind), Namespace: o.GetNamespace(), Name: o.GetName(),
		PatchType: types.ApplyPatchType, Patch: data,
		PatchO: metav1.PatchOptions{FieldManager: manager, Force: &force},
	})
	return err
}

// kind finds a kind in the server's table.
func (c client) kind(gvk schema.GroupVersionKind) *fakeapi.Kind {
	for _, k := range c.env.Kinds() {
		if k.GVK == gvk {
			return k
		}
	}
	return nil
}

func appliesCase() simtest.Case {
	c := upsertsCase()
	c.Controllers = []host.Controller{applies}
	return c
}
