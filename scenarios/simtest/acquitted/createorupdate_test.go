package acquitted_test

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// upserts keeps a ConfigMap of the App's name with the App's image in it, by controllerutil.CreateOrUpdate. It takes
// over an ownerless ConfigMap of that name, a user's or an orphan of an earlier App, in the same update.
var upserts = host.Controller{
	Name: "upserts", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
		return createOrUpdate(ctx, c, configMaps, m, func(m *corev1.ConfigMap) error {
			if m.Data == nil {
				m.Data = map[string]string{}
			}
			maps.Copy(m.Data, map[string]string{"image": app.Spec.Image})
			return controlled(app, m)
		})
	}),
}

// createOrUpdate reads the object from the cache, changes it to the desired state, and writes it if that changed it.
func createOrUpdate[T object](ctx context.Context, c client, kind schema.GroupVersionKind, o T,
	mutate func(T) error) error {
	found, ok := cached[T](c, kind, o.GetNamespace(), o.GetName())
	if !ok {
		if err := mutate(o); err != nil {
			return err
		}
		_, err := c.Create(ctx, o)
		return err
	}
	before := found.DeepCopyObject()
	if err := mutate(found); err != nil || equality.Semantic.DeepEqual(before, found) {
		return err
	}
	_, err := c.Update(ctx, found)
	return err
}

func upsertsCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{upserts}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1) +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {mine: 'yes'}\n",
		User: []simtest.Action{
			edit("a", func(a *App) { a.Spec.Image = "v2" }),
			simtest.Verb("delete cm/a"),
			simtest.Verb("patch cm/b type=merge '{data: {image: x}}'"),
			simtest.Verb("delete app/a --cascade=orphan"),
			again("a"),
		},
		AtRest: func(user host.Client) error {
			return eachApp(user, func(a *App) error {
				m, err := user.Get(context.Background(), configMaps, a.Namespace, a.Name)
				if err != nil {
					return err
				}
				if got := m.(*corev1.ConfigMap).Data["image"]; got != a.Spec.Image ||
					!metav1.IsControlledBy(m.(metav1.Object), a) {
					return fmt.Errorf("%s has an image of %s, controlled by %v", a.Name, got,
						metav1.GetControllerOf(m.(metav1.Object)))
				}
				return nil
			})
		},
	}
}

// conflicts is the same operator, but it requeues after a conflict instead of returning an error.
var conflicts = host.Controller{
	Name: "conflicts", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: upserts.Routes,
	New: func(env *host.Env) host.Reconciler {
		sync := upserts.New(env)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			err := sync.Sync(ctx, key)
			if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
				env.Queue.AddRateLimited(key)
				return nil
			}
			return err
		})
	},
}
