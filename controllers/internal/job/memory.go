package job

import (
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/consistency"
	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// reconciler is the controller's memory. It does not decide which pods are whose (API-5); all but the backoff can be
// read from the API again.
type reconciler struct {
	options  *Options
	env      *host.Env
	jobs     cache.Indexer
	pods     cache.Indexer
	expected *expectations.Expectations
	backoffs map[string]backoff   // of Jobs with a failed pod, by key
	closed   map[string]types.UID // Jobs whose end was written and is not shown yet, by key
	wrote    *consistency.Store
	shed     map[string]map[types.UID]uint64 // see [reconciler.hasShed], by key
}

func newReconciler(o *Options, env *host.Env) *reconciler {
	own := *env // its client will record its writes
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

// Observed removes an expectation that an event has fulfilled.
func (r *reconciler) Observed(key string, deletion bool, object string) {
	if deletion {
		r.expected.Deleted(key, object)
		r.expected.Dying(key, object)
	} else {
		r.expected.Seen(key, object)
	}
}

// Forget drops the memory of a Job that is gone or was recreated.
func (r *reconciler) Forget(key string) {
	r.expected.Forget(key)
	delete(r.backoffs, key)
	delete(r.closed, key)
	delete(r.shed, key)
	r.wrote.Clear(key, "")
}

// Waiting lists the keys that wait for expectations.
func (r *reconciler) Waiting() []string { return r.expected.Waiting() }

// noteShed records that a pod's finalizer was removed, and the resulting version. A terminating pod cannot get it
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

// hasShed reports whether the finalizer of a cached pod was already removed, and the cache lags (RULES I83). Such a pod
// was counted. Upstream waits for an event without the finalizer; here the version of the removal is compared, so a pod
// that got the finalizer again counts again.
func (r *reconciler) hasShed(key string, p *corev1.Pod) bool {
	since := r.shed[key][p.UID] // 0 if none was recorded: no version is below it
	if r.options.Without.Twice {
		return false
	}
	shown, _ := strconv.ParseUint(p.ResourceVersion, 10, 64)
	return shown < since
}

// forgetShed drops what the cache shows by now.
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

// Digest hashes what affects later reconciles.
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
			if unseen > 0 { // what the cache shows makes no difference
				sum += sim.Mix(sim.HashString(string(uid)) + uint64(unseen))
			}
		}
		h.Word(sum)
	}
}

// digestBackoffs hashes the backoffs, with the ages of failures.
func (r *reconciler) digestBackoffs(h *sim.Hash) {
	for _, key := range slices.Sorted(maps.Keys(r.backoffs)) {
		b := r.backoffs[key]
		h.String(key)
		h.Word(uint64(b.failures))
		h.Word(uint64(b.remaining(r.env.Now())))
	}
}
