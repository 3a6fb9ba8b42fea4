package consistency

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// Pods returns a client that records created, updated and patched pods, each for the controller in the answer. So it
// does not record a release, whose answer names none, or a deletion (RULES D46, D47).
func (s *Store) Pods(c host.Client) host.Client {
	if s == nil {
		return c
	}
	return &recorder{c, s}
}

type recorder struct {
	host.Client
	store *Store
}

// Create records a pod created.
func (r *recorder) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	made, err := r.Client.Create(ctx, obj)
	r.record(made)
	return made, err
}

// Update records a pod updated.
func (r *recorder) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	made, err := r.Client.Update(ctx, obj)
	r.record(made)
	return made, err
}

// Patch records a pod patched: adopted.
func (r *recorder) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	made, err := r.Client.Patch(ctx, gvk, namespace, name, p)
	r.record(made)
	return made, err
}

// record records the answer to a request; a refusal has no object.
func (r *recorder) record(obj runtime.Object) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
		r.store.Wrote(p.Namespace+"/"+owner.Name, owner.UID, corev1.SchemeGroupVersion.WithKind("Pod"), p)
	}
}
