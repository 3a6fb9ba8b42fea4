package job

import (
	"context"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/routing"
)

// Pods that have the finalizer and no Job that would take it off have keys of their
// own in the queue. No Job has such a name.
const orphanMark = "/orphan:"

// orphanKey is the key of such a pod.
func orphanKey(p *corev1.Pod) string { return p.Namespace + orphanMark + p.Name }

// orphanOf is the key of the pod that such a key stands for.
func orphanOf(key string) (p string, ok bool) {
	namespace, name, ok := strings.Cut(key, orphanMark)
	return namespace + "/" + name, ok
}

// free takes the finalizer off a pod that no Job will free: it has no controller, or
// its Job is gone, or has ended. It lets be what a controller of another kind has, or
// a Job that another controller runs (RULES I81). That a controller is a Job is told
// by its apiVersion, too.
func (r *reconciler) free(ctx context.Context, key string) error {
	obj, exists, _ := r.pods.GetByKey(key)
	if !exists {
		return nil
	}
	p := obj.(*corev1.Pod)
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil && !r.options.Without.Thief {
		if owner.Kind != Kind.Kind || owner.APIVersion != Kind.GroupVersion().String() {
			return nil
		}
		if j := r.named(p.Namespace, owner); j != nil && (foreign(j) || !finished(j)) {
			return nil
		}
	}
	if r.options.Without.Orphans {
		return nil
	}
	if err := r.shedOne(ctx, "", p); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// keeps says why the finalizer is not taken off a pod that is being deleted (RULES I81).
func keeps(obj runtime.Object, all func(kind string) []runtime.Object) string {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return ""
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return ""
	}
	if owner.Kind != Kind.Kind || owner.APIVersion != Kind.GroupVersion().String() {
		return "its controller is no Job"
	}
	for _, o := range all(Kind.Kind) {
		if j := o.(*batchv1.Job); j.UID == owner.UID && foreign(j) {
			return "its Job is another controller's"
		}
	}
	return ""
}

// named is the cached Job that a reference names, nil for none.
func (r *reconciler) named(namespace string, owner *metav1.OwnerReference) *batchv1.Job {
	obj, exists, _ := r.jobs.GetByKey(routing.Key(&metav1.ObjectMeta{Namespace: namespace, Name: owner.Name}))
	if !exists {
		return nil
	}
	j := obj.(*batchv1.Job)
	if j.UID != owner.UID {
		return nil
	}
	return j
}
