package acquitted_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// mappings copies the Secret that an App names into a ConfigMap of the App. An event of a Secret enqueues every App
// that names it.
var mappings = host.Controller{
	Name: "mappings", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps), mapped(secrets, usersOf)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		secret, ok := cached[*corev1.Secret](c, secrets, app.Namespace, app.Spec.Secret)
		if !ok {
			return nil // its creation requeues the App
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-config"}}
		return createOrUpdate(ctx, c, configMaps, m, func(m *corev1.ConfigMap) error {
			m.Data = map[string]string{"user": string(secret.Data["user"])}
			return controlled(app, m)
		})
	}),
}

// appsIn lists the Apps of a namespace in a process's cache.
func appsIn(v host.View, namespace string) []*App {
	var apps []*App
	v.Each(appKind, namespace, func(o runtime.Object) bool {
		apps = append(apps, appOf(o))
		return true
	})
	return apps
}

func mappingsCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{mappings}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1) + "---\n" + token,
		User: []simtest.Action{
			simtest.Verb("patch secret/token type=merge '{stringData: {user: eve}}'"),
			simtest.Verb("delete cm/a-config"),
			simtest.Verb("label cm/b-config x=y"),
			simtest.Verb("patch cm/b-config type=merge '{data: {user: mallory}}'"),
			simtest.Verb("delete app/b"),
		},
		AtRest: func(user host.Client) error {
			if err := owned(user, configMaps); err != nil {
				return err
			}
			return eachApp(user, func(a *App) error {
				m, err := user.Get(context.Background(), configMaps, a.Namespace, a.Name+"-config")
				if err != nil {
					return err
				}
				if got := m.(*corev1.ConfigMap).Data["user"]; got != "eve" {
					return fmt.Errorf("%s has the user %s", a.Name, got)
				}
				return nil
			})
		},
	}
}
