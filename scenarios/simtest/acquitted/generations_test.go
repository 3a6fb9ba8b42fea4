package acquitted_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

var jobs = batchv1.SchemeGroupVersion.WithKind("Job")

// generations runs one Job for each generation of an App, and deletes those of earlier generations. The Job's name
// contains the generation, so none runs twice.
var generations = host.Controller{
	Name: "generations", For: appKind, Owns: []schema.GroupVersionKind{jobs},
	Routes: []host.Route{itself(appKind), itsOwner(jobs)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		name := fmt.Sprintf("%s-%d", app.Name, app.Generation)
		for _, j := range all[*batchv1.Job](c, jobs, app.Namespace, nil) {
			var g int64
			if _, err := fmt.Sscanf(j.Name, app.Name+"-%d", &g); err != nil || !metav1.IsControlledBy(j, app) ||
				g >= app.Generation || j.DeletionTimestamp != nil {
				continue
			}
			if err := c.removeWithPods(ctx, j); err != nil {
				return err
			}
		}
		if _, ok := cached[*batchv1.Job](c, jobs, app.Namespace, name); ok {
			return nil
		}
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: name}}
		j.Spec.Template.Spec =
			corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "main", Image: app.Spec.Image}}}
		if err := controlled(app, j); err != nil {
			return err
		}
		if _, err := c.Create(ctx, j); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}),
}

// removeWithPods deletes a Job in the background: its own default orphans its Pods.
func (c client) removeWithPods(ctx context.Context, j *batchv1.Job) error {
	background := metav1.DeletePropagationBackground
	return ignoreNotFound(
		c.Delete(ctx, jobs, j.Namespace, j.Name,
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &j.UID}, PropagationPolicy: &background}))
}

func generationsCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{generations}, With: []string{"gc"},
		World: world("a", 1) + "---\n" + world("b", 1),
		User: []simtest.Action{
			edit("a", func(a *App) { a.Spec.Image = "v2" }),
			simtest.Verb("delete job/a-2"),
			simtest.Verb("scale app/a replicas=2"),
			simtest.Verb("label job/b-1 x=y"),
			simtest.Verb("delete app/b"),
		},
		AtRest: func(user host.Client) error {
			if err := count(user, jobs, "default", 1); err != nil {
				return err
			}
			_, err := user.Get(context.Background(), jobs, "default", "a-3")
			return err
		},
	}
}
