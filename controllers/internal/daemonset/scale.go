package daemonset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/routing"
)

type kind = schema.GroupVersionKind

// burst limits the pods that a reconcile creates, and those that it deletes.
const burst = 250

// scale creates a pod for each given node and deletes the given pods. The next reconcile checks the result.
func (w *work) scale(ctx context.Context, nodes []string, victims []*corev1.Pod) error {
	nodes, victims = nodes[:min(len(nodes), burst)], victims[:min(len(victims), burst)]
	keys := make([]string, len(victims))
	var adopted []string
	for i, p := range victims {
		if keys[i] = routing.Key(p); !metav1.IsControlledBy(p, w.set) {
			adopted = append(adopted, keys[i])
		}
	}
	w.expected.Expect(w.key, w.set.UID, len(nodes), append([]string(nil), keys...), adopted...)
	return utilerrors.NewAggregate(append(w.create(ctx, nodes), w.delete(ctx, victims, keys)...))
}

// create creates the pods in batches of 1, 2, 4 and so on: a refused template fails a few times, not once per node.
// Failed and skipped creations are no longer expected.
func (w *work) create(ctx context.Context, nodes []string) (errs []error) {
	tried := 0
	for batch := 1; tried < len(nodes) && len(errs) == 0; batch *= 2 {
		for end := min(tried+batch, len(nodes)); tried < end; tried++ {
			obj, err := w.env.Client.Create(ctx, w.newPod(nodes[tried]))
			switch {
			case err == nil && !w.bySelector():
				w.expected.Made(w.key, routing.Key(obj.(metav1.Object)))
			case err == nil:
			case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
				w.expected.Created(w.key) // every create would be refused; retrying is useless
			default:
				w.expected.Created(w.key)
				errs = append(errs, err)
			}
		}
	}
	for range len(nodes) - tried {
		w.expected.Created(w.key)
	}
	w.expected.Answered(w.key)
	return errs
}

// newPod returns a pod of the template for a node. It has the ControllerRef from the start (LAW-1).
func (w *work) newPod(node string) *corev1.Pod {
	owner := metav1.NewControllerRef(w.set, Kind)
	if w.bySelector() || w.options.Without.TakeOwned {
		owner = nil
	}
	p := pod.FromTemplate(&w.set.Spec.Template, w.set, owner)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	switch w.options.Era {
	case Current:
		p.Spec.Tolerations = tolerations(&p.Spec)
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = w.hash
		bindTo(&p.Spec, node)
	default:
		p.Spec.NodeName = node
	}
	if number := templateGeneration(w.set); number != "" && !w.bySelector() {
		p.Labels[generationLabel] = number
	}
	return p
}

// delete deletes pods by uid, so another pod of the name survives (EXACT-4); upstream deletes by name (RULES E56). A
// missing pod counts as deleted.
func (w *work) delete(ctx context.Context, victims []*corev1.Pod, keys []string) (errs []error) {
	for i, p := range victims {
		err := w.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name,
			w.only(p.ObjectMeta, w.options.Without.VictimUID))
		if err == nil {
			continue
		}
		w.expected.Deleted(w.key, keys[i]) // no event will show it
		if !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errs
}

// only limits a delete to this object's uid.
func (w *work) only(meta metav1.ObjectMeta, any bool) metav1.DeleteOptions {
	if any || w.bySelector() {
		return metav1.DeleteOptions{}
	}
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &meta.UID}}
}
