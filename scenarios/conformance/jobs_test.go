package conformance

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// runner keeps a Job for each ConfigMap, by its name.
func runner() host.Controller {
	maps, jobs := corev1.SchemeGroupVersion.WithKind("ConfigMap"), batchv1.SchemeGroupVersion.WithKind("Job")
	wakes := func(_ host.View, e host.Event, out *host.Effect) {
		o, _ := e.New.(metav1.Object)
		if o == nil {
			o = e.Old.(metav1.Object)
		}
		out.Keys = append(out.Keys, o.GetNamespace()+"/"+o.GetName())
	}
	return host.Controller{
		Name: "runner", For: maps,
		Routes: []host.Route{{Kind: maps, Do: wakes}, {Kind: jobs, Do: wakes}},
		New: func(env *host.Env) host.Reconciler {
			owners, own := env.Informer(maps).GetIndexer(), env.Informer(jobs).GetIndexer()
			return host.SyncFunc(func(ctx context.Context, key string) error {
				o, ok, _ := owners.GetByKey(key)
				if _, there, _ := own.GetByKey(key); !ok || there || o.(*corev1.ConfigMap).DeletionTimestamp != nil {
					return nil
				}
				m := o.(*corev1.ConfigMap)
				_, err := env.Client.Create(ctx, &batchv1.Job{
					ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name,
						OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, maps)}},
					Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
						RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "main"}}}}},
				})
				if apierrors.IsAlreadyExists(err) {
					return nil
				}
				return err
			})
		},
	}
}

// A Job can be copied though the server gives each a selector of its own: no case is skipped for that.
func TestJobsAreCopied(t *testing.T) {
	plan := prepared(t, Subject{Controller: runner(), Samples: []string{"testdata/configmap.yaml"}})
	for _, c := range plan.Cases {
		if strings.Contains(c.Skip, "no copy of a Job can be made") {
			t.Errorf("%s is skipped: %s", c.Name, c.Skip)
		}
	}
	if text := plan.String(); strings.Contains(text, "whether it adopts a Job") || !strings.Contains(text, "creates     Job with a ControllerRef") {
		t.Errorf("it is shown as\n%s", text)
	}
}

// The Jobs that it creates end: what finishes them runs beside it.
func TestJobsEnd(t *testing.T) {
	plan := prepared(t, Subject{Controller: runner(), Samples: []string{"testdata/configmap.yaml"}, Schedules: 5})
	if text := plan.String(); !strings.Contains(text, "  beside      job, kubelet, gc\n") {
		t.Errorf("it is shown as\n%s", text)
	}
	world := plan.Cases[0].World(nil)
	ended := 0
	world.AtRest = func(user host.Client) error {
		list, err := user.List(context.Background(), batchv1.SchemeGroupVersion.WithKind("Job"), "", metav1.ListOptions{})
		for _, o := range list {
			if o.(*batchv1.Job).Status.Succeeded == 1 {
				ended++
			}
		}
		return err
	}
	x, err := world.Explore(t.Context(), "jobs", scenarios.ExploreOptions{Schedules: 5, Workers: 1})
	if err != nil || len(x.Failures) > 0 || ended < 5 {
		t.Errorf("%d Jobs ended in 5 schedules: %v, %v", ended, err, x)
	}
}
