package generated_test

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// changed is a controller that sends, in the place of each object that it creates or updates, what change makes of it;
// and deletes, without a change, all pods of who controls the one that it deletes.
func changed(c host.Controller, change func(runtime.Object) []runtime.Object) host.Controller {
	inner := c.New
	c.New = func(env *host.Env) host.Reconciler {
		e := *env
		e.Client = careless{env.Client, change}
		return inner(&e)
	}
	return c
}

type careless struct {
	host.Client
	change func(runtime.Object) []runtime.Object
}

func (c careless) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return each(ctx, obj, c.change, c.Client.Create)
}

func (c careless) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return each(ctx, obj, c.change, c.Client.Update)
}

func (c careless) UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return each(ctx, obj, c.change, c.Client.UpdateStatus)
}

func (c careless) Delete(ctx context.Context, kind schema.GroupVersionKind, namespace, name string,
	opts metav1.DeleteOptions) error {
	one, err := c.Client.Get(ctx, kind, namespace, name)
	if c.change != nil || kind.Kind != "Pod" || err != nil || metav1.GetControllerOfNoCopy(object(one)) == nil {
		return c.Client.Delete(ctx, kind, namespace, name, opts)
	}
	pods, err := c.Client.List(ctx, kind, namespace, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, p := range pods {
		if p := object(p); controls(metav1.GetControllerOfNoCopy(object(one)).UID, p) {
			if err := c.Client.Delete(ctx, kind, namespace, p.GetName(), metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

func each(ctx context.Context, obj runtime.Object, change func(runtime.Object) []runtime.Object,
	send func(context.Context, runtime.Object) (runtime.Object, error)) (answer runtime.Object, err error) {
	answer = obj
	if change == nil {
		return send(ctx, obj)
	}
	for _, o := range change(obj.DeepCopyObject()) {
		if answer, err = send(ctx, o); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

func larger(obj runtime.Object) []runtime.Object {
	if rs, is := obj.(*appsv1.ReplicaSet); is {
		*rs.Spec.Replicas += 3
	}
	return []runtime.Object{obj}
}

func twiceNamed(obj runtime.Object) []runtime.Object {
	rs, is := obj.(*appsv1.ReplicaSet)
	if !is || rs.ResourceVersion != "" {
		return []runtime.Object{obj}
	}
	other := rs.DeepCopy()
	other.Name += "-x"
	return []runtime.Object{rs, other}
}

func counted(obj runtime.Object) []runtime.Object {
	if set, is := obj.(*appsv1.StatefulSet); is {
		set.Status.Replicas = max(set.Status.Replicas, 2)
	}
	return []runtime.Object{obj}
}

func unlabelled(obj runtime.Object) []runtime.Object {
	if p, is := obj.(*corev1.Pod); is {
		delete(p.Labels, appsv1.ControllerRevisionHashLabelKey)
	}
	return []runtime.Object{obj}
}

func notTheFirst(obj runtime.Object) []runtime.Object {
	if p, is := obj.(*corev1.Pod); is && strings.HasSuffix(p.Name, "-0") {
		return nil
	}
	return []runtime.Object{obj}
}

func twice(obj runtime.Object) []runtime.Object {
	if s, is := obj.(*discoveryv1.EndpointSlice); is && s.ResourceVersion == "" {
		return []runtime.Object{obj, obj.DeepCopyObject()}
	}
	return []runtime.Object{obj}
}

func noSlice(obj runtime.Object) []runtime.Object {
	if _, is := obj.(*discoveryv1.EndpointSlice); is {
		return nil
	}
	return []runtime.Object{obj}
}
