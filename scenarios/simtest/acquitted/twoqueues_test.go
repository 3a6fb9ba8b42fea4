package acquitted_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// queues has two kinds of keys. For an App it keeps a ConfigMap that it owns. For a Secret it writes the user into the
// ConfigMaps of all Apps that name it.
var queues = host.Controller{
	Name: "queues", For: appKind, Owns: []schema.GroupVersionKind{configMaps},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps),
		mapped(secrets, func(_ host.View, o metav1.Object) []string { return []string{secretQueue + keyOf(o)} }),
		mapped(configMaps, func(_ host.View, o metav1.Object) []string {
			return []string{secretQueue + o.GetNamespace() + "/" + o.GetLabels()["secret"]}
		}),
	},
	New: operator(func(ctx context.Context, c client, key string) error {
		if key, ok := strings.CutPrefix(key, secretQueue); ok {
			return syncSecret(ctx, c, key)
		}
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
		return createOrUpdate(ctx, c, configMaps, m, func(m *corev1.ConfigMap) error {
			metav1.SetMetaDataLabel(&m.ObjectMeta, "secret", app.Spec.Secret)
			return controlled(app, m)
		})
	}),
}

// secretQueue begins the keys of the second queue.
const secretQueue = "secret:"

func syncSecret(ctx context.Context, c client, key string) error {
	namespace, name, _ := strings.Cut(key, "/")
	secret, ok := cached[*corev1.Secret](c, secrets, namespace, name)
	if !ok {
		return nil
	}
	for _, m := range all[*corev1.ConfigMap](c, configMaps, namespace, nil) {
		owner := metav1.GetControllerOf(m)
		if owner == nil || owner.Kind != appKind.Kind || m.Labels["secret"] != name {
			continue
		}
		before := m.DeepCopy()
		m.Data = map[string]string{"user": string(secret.Data["user"])}
		if equality.Semantic.DeepEqual(before, m) {
			continue
		}
		if _, err := c.Update(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func queuesCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{queues}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1) + "---\n" + token,
		User: []simtest.Action{
			simtest.Verb("patch secret/token type=merge '{stringData: {user: eve}}'"),
			simtest.Verb("delete cm/a"),
			simtest.Verb("label cm/b secret-"),
			simtest.Verb("patch cm/b type=merge '{data: {user: mallory}}'"),
			simtest.Verb("delete app/b"),
		},
		AtRest: func(user host.Client) error {
			if err := owned(user, configMaps); err != nil {
				return err
			}
			return eachApp(user, func(a *App) error {
				m, err := user.Get(context.Background(), configMaps, a.Namespace, a.Name)
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
