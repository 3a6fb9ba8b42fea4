package replicas

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// victims chooses n of the pods for deletion: those whose loss costs least. Of pods that are equal
// those come first that were the set's before this sync adopted the others.
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

// cheaper is the order of today: stages of starting first, then what the pod says
// that its deletion costs, then how many of the pods of all sets of the same
// controller are on its node (RULES E57), then how long it has been ready, restarts
// and age. Times are compared by their magnitude only, and among pods of one
// magnitude the uid decides: as good as a draw.
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

// neighbours counts, by node, the active pods that the sets of the set's own
// controller select. A set without a controller has none.
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

// cost is what a pod says that its deletion costs; 0 where it says nothing, or no
// whole number as one writes it.
func cost(p *corev1.Pod) int32 {
	value := p.Annotations[corev1.PodDeletionCost]
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") {
		return 0
	}
	return int32(n)
}
