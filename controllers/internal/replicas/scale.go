package replicas

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/routing"
)

// burst is the maximum number of pods that a reconcile creates or deletes.
const burst = 500

// scale creates or deletes pods to reach the wanted number. The next reconcile checks the result.
func (r *reconciler) scale(ctx context.Context, key string, set *Set, pods []*corev1.Pod) error {
	missing := set.Replicas - len(pods)
	if r.options.Without.Dying {
		missing -= int(r.terminating(set))
	}
	if missing > 0 {
		return r.create(ctx, key, set, min(missing, burst))
	}
	if missing < 0 {
		if r.options.Without.OwnVictims {
			pods = r.selected(set)
		}
		return r.delete(ctx, key, set, r.victims(set, pods, min(-missing, burst)))
	}
	return nil
}

// create creates n pods. In the current era it works in batches of 1, 2, 4 and so on, so few requests fail if the
// server refuses the template. Failed and skipped creations are no longer expected.
func (r *reconciler) create(ctx context.Context, key string, set *Set, n int) error {
	if !r.options.Without.ExpectFirst {
		r.expected.ExpectCreations(key, r.owner(set), n)
	}
	p := r.newPod(set)
	made, batch := 0, 1
	var firstErr error
	for tried := 0; tried < n && firstErr == nil; batch *= 2 {
		for end := min(tried+r.batch(batch, n), n); tried < end; tried++ {
			name, err := r.createOne(ctx, p)
			if err == nil {
				made++
				r.made(key, name)
			} else if firstErr == nil {
				firstErr = err
			}
		}
	}
	if r.options.Without.ExpectFirst {
		r.expected.ExpectCreations(key, r.owner(set), made)
		return firstErr
	}
	for range n - made {
		if !r.options.Without.FailedCreation {
			r.expected.Created(key)
		}
	}
	r.expected.Answered(key)
	return firstErr
}

// batch returns the size of the next batch. Eras before the current one create all n pods in one batch.
func (r *reconciler) batch(next, n int) int {
	if r.options.Era != Current {
		return n
	}
	return next
}

func (r *reconciler) createOne(ctx context.Context, p *corev1.Pod) (string, error) {
	obj, err := r.client.Create(ctx, p)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return "", nil // every create would be refused, so the caller need not retry
	}
	if err != nil {
		return "", err
	}
	return routing.Key(obj.(metav1.Object)), nil
}

// made records the name of a created pod in the expectations. Before ControllerRef, creations were only counted.
func (r *reconciler) made(key, p string) {
	if p != "" && r.options.Era.owned() && !r.options.Without.ExpectFirst &&
		!r.options.Without.MadeByName {
		r.expected.Made(key, p)
	}
}

// newPod returns a pod of the set's template. Before ControllerRef, an annotation named the creator.
func (r *reconciler) newPod(set *Set) *corev1.Pod {
	p := pod.FromTemplate(set.Template, set, r.reference(set))
	if !r.options.Era.owned() {
		p.Annotations = createdby.Annotate(p.Annotations, set, r.kind.GVK)
	}
	return p
}

// reference returns the reference that new pods get, or nil.
func (r *reconciler) reference(set *Set) *metav1.OwnerReference {
	refs := r.options.Era.owned() || r.options.GarbageCollector
	if !refs || r.options.Without.TakeOwned {
		return nil
	}
	owner := metav1.NewControllerRef(set, r.kind.GVK)
	if r.options.Without.Controller {
		owner.Controller = nil
	}
	if r.options.Without.OwnerName {
		owner.Name += "-pods"
	}
	return owner
}

// delete deletes pods by uid, so a new pod with the same name survives (EXACT-4). Upstream, and eras before
// ControllerRef, delete by name (RULES E56, bug B12). A missing pod counts as deleted.
func (r *reconciler) delete(ctx context.Context, key string, set *Set, pods []*corev1.Pod) error {
	keys := make([]string, len(pods))
	var adopted []string
	for i, p := range pods {
		if keys[i] = routing.Key(p); !metav1.IsControlledBy(p, set) {
			adopted = append(adopted, keys[i])
		}
	}
	if !r.options.Without.ExpectFirst {
		r.expected.ExpectDeletions(key, r.owner(set), append([]string(nil), keys...), adopted...)
	}
	var firstErr error
	for i, p := range pods {
		if r.options.Without.SharedCache {
			p.Labels["deleted-by"] = r.kind.Name
		}
		err := r.client.Delete(ctx, pod.Kind, p.Namespace, p.Name, r.only(p))
		if err == nil {
			continue
		}
		gone := apierrors.IsNotFound(err)
		if !gone || !r.options.Without.MissingDeletion {
			r.expected.Deleted(key, keys[i]) // the deletion failed, so no event will show it
		}
		if !gone && firstErr == nil && !r.options.Without.DeleteErrors {
			firstErr = err
		}
	}
	if r.options.Without.ExpectFirst {
		r.expected.ExpectDeletions(key, r.owner(set), keys, adopted...)
	}
	return firstErr
}

// only returns the options of a delete request. p's uid is a precondition, except before ControllerRef.
func (r *reconciler) only(p *corev1.Pod) metav1.DeleteOptions {
	if !r.options.Era.owned() || r.options.Without.VictimUID {
		return metav1.DeleteOptions{}
	}
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}
}

// victims chooses the n pods that cost least to lose. Of equal pods, those that this reconcile adopted come last.
func (r *reconciler) victims(set *Set, pods []*corev1.Pod, n int) []*corev1.Pod {
	if n >= len(pods) {
		return pods
	}
	before := pod.Before
	if r.options.Era == Current {
		before = r.cheaper(set)
	}
	ranked := slices.Clone(pods)
	slices.SortStableFunc(ranked, before)
	return ranked[:n]
}

// cheaper returns the order of deletion in the current era. It compares progress, deletion cost, number of neighbours
// on the node (RULES E57), ready time, restarts and age. The bit lengths of ready time and age are compared. Pods with
// different times but the same bit length are ordered by uid, which is as good as random.
func (r *reconciler) cheaper(set *Set) func(a, b *corev1.Pod) int {
	near, now := r.neighbours(set), r.env.Now()
	magnitude := func(t time.Time) int { return bits.Len64(uint64(max(now.Sub(t), 0))) }
	younger := func(a, b time.Time, byUID int) int {
		if order := pod.Later(a, b); order == 0 || a.IsZero() || b.IsZero() {
			return order
		}
		return cmp.Or(cmp.Compare(magnitude(a), magnitude(b)), byUID)
	}
	return func(a, b *corev1.Pod) int {
		byUID := strings.Compare(string(a.UID), string(b.UID))
		return cmp.Or(
			pod.Stage(a, b),
			cmp.Compare(cost(a), cost(b)),
			cmp.Compare(near[b.Spec.NodeName], near[a.Spec.NodeName]),
			younger(pod.ReadySince(a), pod.ReadySince(b), byUID),
			pod.Restarts(a, b),
			younger(a.CreationTimestamp.Time, b.CreationTimestamp.Time, byUID),
		)
	}
}

// neighbours counts, by node, the active pods that the sets with the same controller select. If the set has no
// controller, the map is empty.
func (r *reconciler) neighbours(set *Set) map[string]int {
	near := map[string]int{}
	parent := metav1.GetControllerOfNoCopy(set)
	if parent == nil {
		return near
	}
	counted := map[*corev1.Pod]bool{}
	for _, obj := range r.sets.List() {
		sibling := r.kind.Read(obj.(runtime.Object))
		if c := metav1.GetControllerOfNoCopy(sibling); c == nil || c.UID != parent.UID {
			continue
		}
		for _, p := range pod.In(r.pods, sibling.Namespace) {
			if !counted[p] && pod.Active(p) && sibling.Matches(p.Labels) {
				counted[p] = true
				near[p.Spec.NodeName]++
			}
		}
	}
	return near
}

// cost returns a pod's deletion cost. It is 0 if the annotation is missing or is not a plain integer.
func cost(p *corev1.Pod) int32 {
	value := p.Annotations[corev1.PodDeletionCost]
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") {
		return 0
	}
	return int32(n)
}
