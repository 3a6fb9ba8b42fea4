package acquitted_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// sharers gives its ConfigMap a second owner, which is not the controller.
var sharers = host.Controller{
	Name: "sharers", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: mappings.Routes,
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		secret, ok := cached[*corev1.Secret](c, secrets, app.Namespace, app.Spec.Secret)
		if !ok {
			return nil
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-config"}}
		return createOrUpdate(ctx, c, configMaps, m, func(m *corev1.ConfigMap) error {
			m.Data = map[string]string{"user": string(secret.Data["user"])}
			if err := controlled(app, m); err != nil {
				return err
			}
			for _, r := range m.OwnerReferences {
				if r.UID == secret.UID {
					return nil
				}
			}
			m.OwnerReferences =
				append(m.OwnerReferences,
					metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: secret.Name, UID: secret.UID})
			return nil
		})
	}),
}
