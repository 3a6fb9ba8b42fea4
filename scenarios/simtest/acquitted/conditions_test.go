package acquitted_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// conditions writes status only: whether the Secret that an App names exists.
var conditions = host.Controller{
	Name: "conditions", For: appKind,
	Routes: []host.Route{itself(appKind), mapped(secrets, usersOf)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil {
			return nil
		}
		before := app.Status.DeepCopy()
		ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "SecretFound",
			ObservedGeneration: app.Generation,
			LastTransitionTime: metav1.NewTime(c.env.Now())}
		if _, ok := cached[*corev1.Secret](c, secrets, app.Namespace, app.Spec.Secret); !ok {
			ready.Status, ready.Reason = metav1.ConditionFalse, "SecretMissing"
		}
		if old := meta.FindStatusCondition(app.Status.Conditions, ready.Type); old != nil &&
			old.Status == ready.Status {
			ready.LastTransitionTime = old.LastTransitionTime
		}
		meta.SetStatusCondition(&app.Status.Conditions, ready)
		app.Status.ObservedGeneration = app.Generation
		if equality.Semantic.DeepEqual(*before, app.Status) {
			return nil
		}
		return c.updateAppStatus(ctx, app)
	}),
}

// DeepCopy is like controller-gen's.
func (s *AppStatus) DeepCopy() *AppStatus {
	out := *s
	out.Conditions = append([]metav1.Condition(nil), s.Conditions...)
	return &out
}

// usersOf lists the Apps that name a Secret.
func usersOf(v host.View, secret metav1.Object) []string {
	var keys []string
	for _, a := range appsIn(v, secret.GetNamespace()) {
		if a.Spec.Secret == secret.GetName() {
			keys = append(keys, keyOf(a))
		}
	}
	return keys
}

func conditionsCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{conditions},
		World:       world("a", 1) + "---\n" + world("b", 1) + "---\n" + token,
		User: []simtest.Action{
			simtest.Verb("delete secret/token"),
			edit("a", func(a *App) { a.Spec.Secret = "other" }),
			makes(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}}),
			simtest.Verb("label app/b tier=front"),
			simtest.Verb("delete app/b"),
		},
		AtRest: func(user host.Client) error {
			return eachApp(user, func(a *App) error {
				_, err := user.Get(context.Background(), secrets, a.Namespace, a.Spec.Secret)
				if ready := meta.IsStatusConditionTrue(a.Status.Conditions, "Ready"); ready != (err == nil) ||
					a.Status.ObservedGeneration != a.Generation {
					return fmt.Errorf("%s says ready=%t of generation %d; it is of %d, and its secret: %v", a.Name,
						ready, a.Status.ObservedGeneration, a.Generation, err)
				}
				return nil
			})
		},
	}
}
