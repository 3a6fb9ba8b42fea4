package conformance

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/host"
)

var (
	deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")
	services    = corev1.SchemeGroupVersion.WithKind("Service")
)

// rightWorkloads are right operators that run something, or go by the clock.
var rightWorkloads = []right{
	{"a Deployment and a Service", []host.Controller{reconciler("serves", gardens, serves, deployments, services)}, ""},
	{"a password made once", []host.Controller{reconciler("password", gardens, makesPassword, secrets)}, ""},
	{"a password made anew each day", []host.Controller{reconciler("rotates", gardens, rotates, secrets)}, ""},
}

// specHash is an annotation of what an object was last written from: the server adds defaults to what is written.
const specHash = "garden.example.com/spec-hash"

// serves runs its owner's size of Pods behind a Service, and says how many are ready.
func serves(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	size, _, _ := unstructured.NestedInt64(owner.Object, "spec", "size")
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	labels := map[string]any{"garden": owner.GetName()}
	d, s := a.dependent(owner, owner.GetName()), a.dependent(owner, owner.GetName())
	delete(d.Object, "data")
	delete(s.Object, "data")
	d.Object["spec"] = map[string]any{"replicas": size, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{
			"containers": []any{map[string]any{"name": "main", "image": "registry.example/" + color}}}}}
	s.SetGroupVersionKind(services)
	s.Object["spec"] = map[string]any{"selector": labels, "ports": []any{map[string]any{"port": int64(80)}}}
	for _, next := range []*thing{d, s} {
		next.SetAnnotations(map[string]string{specHash: hashOf(next)})
		o, ok, _ := a.env.Informer(next.GroupVersionKind()).GetIndexer().GetByKey("default/" + next.GetName())
		if !ok {
			if err := a.create(next); err != nil {
				return err
			}
			continue
		}
		is := fields(o.(runtime.Object))
		switch {
		case !metav1.IsControlledBy(is, owner):
			return taken(is)
		case is.GetDeletionTimestamp() != nil || is.GetAnnotations()[specHash] == next.GetAnnotations()[specHash]:
			continue
		}
		is.Object["spec"].(map[string]any)["replicas"] = size
		is.Object["spec"].(map[string]any)["template"] = next.Object["spec"].(map[string]any)["template"]
		is.SetAnnotations(next.GetAnnotations())
		if err := a.update(is); err != nil {
			return err
		}
	}
	ready := int64(0)
	if is := a.cached(d.GetName()); is != nil && metav1.IsControlledBy(is, owner) {
		ready, _, _ = unstructured.NestedInt64(is.Object, "status", "readyReplicas")
	}
	return a.reports(owner, "ready", ready)
}

// password is another one each time it is asked for.
func (a *at) password(owner *thing) string {
	c := owner.DeepCopy()
	c.Object["spec"] = map[string]any{"seed": string(owner.GetUID()) + owner.GetResourceVersion() + a.env.Now().String()}
	return hashOf(c)
}

// makesPassword keeps a Secret with a password that nobody else knows.
func makesPassword(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.dependent(owner, owner.GetName()+"-password")
	if d := a.cached(next.GetName()); d != nil {
		if !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		return nil
	}
	delete(next.Object, "data")
	next.Object["stringData"] = map[string]any{"password": a.password(owner)}
	if err := a.create(next); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// rotates writes another password each day.
func rotates(a *at, owner *thing) error {
	if err := makesPassword(a, owner); err != nil || ended(owner) {
		return err
	}
	d := a.cached(owner.GetName() + "-password")
	if d == nil || d.GetDeletionTimestamp() != nil {
		return nil // its event comes back here
	}
	made := d.GetCreationTimestamp().Time
	if text := d.GetAnnotations()["garden.example.com/rotated"]; text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		made = time.Unix(n, 0)
	}
	if left := made.Add(24 * time.Hour).Sub(a.env.Now()); left > 0 {
		a.env.Queue.AddAfter(key(owner), left)
		return nil
	}
	delete(d.Object, "data")
	d.Object["stringData"] = map[string]any{"password": a.password(owner)}
	d.SetAnnotations(map[string]string{"garden.example.com/rotated": strconv.FormatInt(a.env.Now().Unix(), 10)})
	return a.update(d)
}
