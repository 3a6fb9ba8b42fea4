package scenarios_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// numbered keeps one pod for each number below a set's replicas. It has two guards. A pod's name contains its number,
// so the server refuses a second one. A delete is conditional on the version that was read.
type numbered struct{ names, versions bool }

const number = "number"

var (
	setKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
)

func (n numbered) controller() host.Controller {
	var any routing.Without
	return host.Controller{
		Name: "numbered", For: setKind, Owns: []schema.GroupVersionKind{podKind},
		New: func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error { return n.sync(ctx, env, key) })
		},
		Routes: []host.Route{routing.Own(setKind, &any), (&routing.Dependents{Owner: setKind, Without: &any,
			Selects: func(runtime.Object, map[string]string) bool { return false }}).Route(podKind)},
		Contract: law.Contract{
			Selector: func(owner runtime.Object) labels.Selector {
				return labels.SelectorFromSet(owner.(*appsv1.ReplicaSet).Spec.Selector.MatchLabels)
			},
			Replicas: func(owner runtime.Object) int { return int(*owner.(*appsv1.ReplicaSet).Spec.Replicas) },
			Identity: func(pod runtime.Object) string { return pod.(*corev1.Pod).Labels[number] },
		},
	}
}

func (n numbered) sync(ctx context.Context, env *host.Env, key string) error {
	obj, ok, err := env.Informer(setKind).GetIndexer().GetByKey(key)
	if err != nil || !ok || obj.(*appsv1.ReplicaSet).DeletionTimestamp != nil {
		return err
	}
	set := obj.(*appsv1.ReplicaSet)
	have := map[string]bool{}
	for _, obj := range env.Informer(podKind).GetIndexer().List() {
		pod := obj.(*corev1.Pod)
		if !metav1.IsControlledBy(pod, set) || pod.DeletionTimestamp != nil {
			continue
		}
		if have[pod.Labels[number]] = true; pod.Labels[number] >= fmt.Sprint(*set.Spec.Replicas) {
			if err := n.remove(ctx, env, pod); err != nil {
				return err
			}
		}
	}
	for i := range *set.Spec.Replicas {
		if !have[fmt.Sprint(i)] {
			if err := n.add(ctx, env, set, fmt.Sprint(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n numbered) remove(ctx context.Context, env *host.Env, pod *corev1.Pod) error {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if n.versions {
		o.Preconditions.ResourceVersion = &pod.ResourceVersion
	}
	err := env.Client.Delete(ctx, podKind, pod.Namespace, pod.Name, o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (n numbered) add(ctx context.Context, env *host.Env, set *appsv1.ReplicaSet, i string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: set.Namespace, GenerateName: set.Name + "-", Labels: map[string]string{"app": "web", number: i},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, setKind)},
	}, Spec: set.Spec.Template.Spec}
	if n.names {
		pod.Name, pod.GenerateName = set.Name+"-"+i, ""
	}
	_, err := env.Client.Create(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// A controller of pods with identities has one mutant without each guard. The laws on identities and on older caches
// tell them apart.
func TestNumbered(t *testing.T) {
	const script = `controllers numbered
apply world.yaml
settle quiet
label pod/web-a-1 seen=yes
settle quiet
scale rs/web-a replicas=1
settle
`
	for _, c := range []struct {
		law    string
		guards numbered
		breaks bool
	}{
		{"one-for-each-identity", numbered{names: true, versions: true}, false},
		{"one-for-each-identity", numbered{versions: true}, true},
		{"no-older-view", numbered{names: true, versions: true}, false},
		{"no-older-view", numbered{names: true}, true},
	} {
		t.Run(fmt.Sprint(c.law, c.guards), func(t *testing.T) {
			g := &scenarios.Registry{Controllers: []host.Controller{c.guards.controller()}, Laws: law.All()}
			x, err := scenarios.Explore(t.Context(), parse(t, script), -1, g, scenarios.ExploreOptions{
				Schedules: 300, Laws: []string{c.law}, Strict: true, Faults: map[string]int{"stale": 1}})
			if err != nil {
				t.Fatal(err)
			}
			if broken := len(x.Failures) > 0 && x.Failures[0].Law == c.law; broken != c.breaks {
				t.Errorf("breaks it: %v, want %v\n%s", broken, c.breaks, x.Text())
			}
		})
	}
}
