package job

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/consistency"
	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// reconciler is the controller with its memory. The memory does not decide which pods belong to a Job (API-5). After a
// restart, the controller can read everything except the backoff from the API again.
type reconciler struct {
	options  *Options
	env      *host.Env
	jobs     cache.Indexer
	pods     cache.Indexer
	expected *expectations.Expectations
	backoffs map[string]backoff   // the backoff of each Job with a failed pod, by the Job's key
	closed   map[string]types.UID // by key, the uid of a Job whose end was written but is not in the cache yet
	wrote    *consistency.Store
	shed     map[string]map[types.UID]uint64 // the version at which a pod lost the finalizer, by Job key and pod uid
}

func newReconciler(o *Options, env *host.Env) *reconciler {
	own := *env // a copy, whose client records the writes of pods in the current era
	r := &reconciler{options: o, env: &own, expected: expectations.New(env.Now),
		backoffs: map[string]backoff{}, closed: map[string]types.UID{}, shed: map[string]map[types.UID]uint64{}}
	r.jobs = env.Informer(Kind).GetIndexer()
	r.pods = env.Informer(pod.Kind).GetIndexer()
	pod.Index(r.pods)
	if o.Era == Current {
		r.wrote = consistency.New(env.Behind)
		r.env.Client = r.wrote.Pods(env.Client)
	}
	return r
}

func (r *reconciler) Observed(key string, deletion bool, object string) {
	if deletion {
		r.expected.Deleted(key, object)
		r.expected.Dying(key, object)
	} else {
		r.expected.Seen(key, object)
	}
}

func (r *reconciler) Forget(key string) {
	r.expected.Forget(key)
	delete(r.backoffs, key)
	delete(r.closed, key)
	delete(r.shed, key)
	r.wrote.Clear(key, "")
}

func (r *reconciler) Waiting() []string { return r.expected.Waiting() }

// noteShed records the version at which a pod's finalizer was removed. A terminating pod cannot get the finalizer
// again.
func (r *reconciler) noteShed(key string, left *corev1.Pod) {
	since, _ := strconv.ParseUint(left.ResourceVersion, 10, 64)
	if left.DeletionTimestamp != nil {
		since = math.MaxUint64
	}
	if r.shed[key] == nil {
		r.shed[key] = map[types.UID]uint64{}
	}
	r.shed[key][left.UID] = since
}

// hasShed reports whether a pod's finalizer was removed and the cache does not show that yet (RULES I83). Such a pod
// was counted already. Upstream waits for an event that shows the pod without the finalizer. Here the versions are
// compared, so a pod that gets the finalizer again is counted again.
func (r *reconciler) hasShed(key string, p *corev1.Pod) bool {
	since := r.shed[key][p.UID] // 0 if none was recorded; no version is below 0
	if r.options.Without.Twice {
		return false
	}
	shown, _ := strconv.ParseUint(p.ResourceVersion, 10, 64)
	return shown < since
}

// forgetShed drops the records of finalizers whose removal is now in the cache.
func (r *reconciler) forgetShed(key string, pods []*corev1.Pod) {
	kept := map[types.UID]uint64{}
	for _, p := range pods {
		if r.hasShed(key, p) {
			kept[p.UID] = r.shed[key][p.UID]
		}
	}
	if len(kept) == 0 {
		delete(r.shed, key)
	} else {
		r.shed[key] = kept
	}
}

func (r *reconciler) Digest(h *sim.Hash) {
	r.expected.Digest(h)
	r.wrote.Digest(h)
	r.digestBackoffs(h)
	for _, key := range slices.Sorted(maps.Keys(r.closed)) {
		h.String(key)
		h.String(string(r.closed[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(r.shed)) {
		h.String(key)
		var sum uint64
		for uid, since := range r.shed[key] { //detcheck:ordered a sum
			unseen := math.MaxInt
			if since != math.MaxUint64 {
				unseen = r.env.Behind(pod.Kind, strconv.FormatUint(since, 10))
			}
			if unseen > 0 { // a removal that the cache shows has no effect
				sum += sim.Mix(sim.HashString(string(uid)) + uint64(unseen))
			}
		}
		h.Word(sum)
	}
}

func (r *reconciler) digestBackoffs(h *sim.Hash) {
	for _, key := range slices.Sorted(maps.Keys(r.backoffs)) {
		b := r.backoffs[key]
		h.String(key)
		h.Word(uint64(b.failures))
		h.Word(uint64(b.remaining(r.env.Now())))
	}
}

// claim returns the Job's pods. It releases own pods that no longer match, and adopts matching orphans, also ended and
// terminating ones, because they must be counted. In the current era it adds and removes the finalizer together with
// the reference (RULES I80). So an adopted pod is counted like a created one.
func (r *reconciler) claim(ctx context.Context, key string, j *batchv1.Job) ([]*corev1.Pod, error) {
	m := &ref.Manager{Client: r.env.Client, Owner: j, Kind: Kind, Dependent: pod.Kind,
		Without: &r.options.Without.Ref}
	if r.options.Era == Current && !r.options.Without.AdoptBare {
		m.Finalizers = []string{tracking}
	}
	if r.options.Without.OwnCount {
		return keep(pod.In(r.pods, j.Namespace), func(p *corev1.Pod) bool { return selects(j, p.Labels) }), nil
	}
	candidates := slices.Concat(pod.Of(r.pods, j.UID), pod.Orphans(r.pods, j.Namespace))
	r.forgetShed(key, candidates)
	pods, err := ref.Claim(ctx, m, candidates, func(p *corev1.Pod) bool { return selects(j, p.Labels) })
	if err != nil {
		return nil, err
	}
	for i, p := range pods {
		if !metav1.IsControlledBy(p, j) && !tracked(p) && len(m.Finalizers) > 0 {
			adopted := *p
			adopted.Finalizers = append(slices.Clip(p.Finalizers), tracking)
			pods[i] = &adopted
		}
	}
	return pods, nil
}

// awake reports whether the Job may create and delete pods, or must wait for its expectations. An event may never show
// an expected deletion: if the pod lost its owner (WATCH-5), or if the deletion was shown before it was expected.
// Therefore, in the current era, awake also compares expectations with the cache.
func (r *reconciler) awake(key string, j *batchv1.Job) bool {
	if r.options.Era == Current {
		r.expected.Recheck(key, expectations.Look(r.pods, j.UID))
	}
	return r.expected.Satisfied(key, r.owner(j)) || r.options.Without.Wait
}

// owner returns the uid for a Job's expectations. Before ControllerRef it is empty, because only the key counted.
func (r *reconciler) owner(j *batchv1.Job) types.UID {
	if r.options.Era == Selector || r.options.Era == Gated {
		return ""
	}
	return j.UID
}

// failed reports whether a pod counts as a failure of its Job. A terminating pod counts, because it may never report
// its end. If the Job replaces only failed pods, a terminating pod does not count.
func failed(p *corev1.Pod, j *batchv1.Job) bool {
	return p.Status.Phase == corev1.PodFailed ||
		!onlyFailed(j) && p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded
}

// onlyFailed reports whether the Job replaces a terminating pod only when the pod has failed.
func onlyFailed(j *batchv1.Job) bool {
	return j.Spec.PodReplacementPolicy != nil && *j.Spec.PodReplacementPolicy == batchv1.Failed ||
		j.Spec.PodFailurePolicy != nil
}

func tracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, tracking) }

func keep(pods []*corev1.Pod, is func(*corev1.Pod) bool) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, p := range pods {
		if is(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

func count(pods []*corev1.Pod, is func(*corev1.Pod) bool) int32 {
	n := int32(0)
	for _, p := range pods {
		if is(p) {
			n++
		}
	}
	return n
}

// selectorOf returns a Job's selector, or nil if it is missing or invalid. An empty selector selects every pod.
func selectorOf(j *batchv1.Job) labels.Selector {
	s, _ := readSelector(j)
	return s
}

func readSelector(j *batchv1.Job) (labels.Selector, error) {
	s, err := ref.Parse(j.Spec.Selector)
	if err != nil || j.Spec.Selector == nil {
		return nil, err
	}
	return s, nil
}

func selects(owner runtime.Object, have map[string]string) bool {
	return ref.Selects(owner.(*batchv1.Job).Spec.Selector, have)
}
