package acquitted_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

var replicaSets = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// references runs an App's Pods by a ReplicaSet that it owns, by controllerutil.SetControllerReference, and copies
// their number to its status.
var references = host.Controller{
	Name: "references", For: appKind, Owns: []schema.GroupVersionKind{replicaSets},
	Routes: []host.Route{itself(appKind), itsOwner(replicaSets)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
		fill := func(s *appsv1.ReplicaSet) error { return wanted(app, s) }
		if err := createOrUpdate(ctx, c, replicaSets, set, fill); err != nil {
			return err
		}
		found, ok := cached[*appsv1.ReplicaSet](c, replicaSets, app.Namespace, app.Name)
		if !ok || app.Status.Replicas == int64(found.Status.Replicas) {
			return nil
		}
		app.Status.Replicas = int64(found.Status.Replicas)
		return c.updateAppStatus(ctx, app)
	}),
}

func wanted(app *App, s *appsv1.ReplicaSet) error {
	n := int32(app.Spec.Replicas)
	s.Spec.Replicas = &n
	if s.Spec.Selector == nil { // the selector is immutable
		labels := map[string]string{"app": app.Name}
		s.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		s.Spec.Template.Labels = labels
		s.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: app.Spec.Image}}
	}
	s.Spec.Template.Spec.Containers[0].Image = app.Spec.Image
	return controlled(app, s)
}

func referencesCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{references}, With: []string{"gc", "replicaset", "kubelet"},
		World: world("a", 1),
		User: []simtest.Action{
			simtest.Verb("scale app/a replicas=2"),
			simtest.Verb("scale rs/a replicas=3"),
			simtest.Verb("label rs/a tier=front"),
			simtest.Verb("delete rs/a"),
		},
		AtRest: func(user host.Client) error {
			if err := owned(user, replicaSets); err != nil {
				return err
			}
			return eachApp(user, func(a *App) error {
				if a.Status.Replicas != a.Spec.Replicas {
					return fmt.Errorf("%s has %d replicas", a.Name, a.Status.Replicas)
				}
				return nil
			})
		},
	}
}
