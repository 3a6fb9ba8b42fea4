package daemonset

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/consistency"
	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// reconciler is the controller with its memory: expectations, failures of pods by node, and encoded templates.
type reconciler struct {
	options   *Options
	env       *host.Env
	sets      cache.Indexer
	pods      cache.Indexer
	nodes     cache.Indexer
	revisions cache.Indexer
	expected  *expectations.Expectations
	written   *consistency.Store // nil in earlier eras
	failures  failures
	encoded   history.Memo
}

func newReconciler(o *Options, env *host.Env) *reconciler {
	own := *env // a copy, whose client records the writes of pods in the current era
	r := &reconciler{options: o, env: &own, expected: expectations.New(env.Now), failures: failures{},
		encoded: history.Memo{}}
	r.sets = env.Informer(Kind).GetIndexer()
	r.pods = env.Informer(pod.Kind).GetIndexer()
	r.nodes = env.Informer(nodeKind).GetIndexer()
	pod.Index(r.pods)
	if o.Era == Current {
		r.revisions = env.Informer(history.Kind).GetIndexer()
		history.Index(r.revisions)
		r.written = consistency.New(env.Behind)
		r.env.Client = r.written.Pods(env.Client)
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
	r.written.Clear(key, "")
	delete(r.encoded, key)
}

func (r *reconciler) Waiting() []string { return r.expected.Waiting() }

func (r *reconciler) Digest(h *sim.Hash) {
	r.expected.Digest(h)
	r.written.Digest(h)
	r.failures.digest(h, r.env.Now())
}

type work struct {
	*reconciler
	key     string
	set     *appsv1.DaemonSet
	nodes   []*corev1.Node // sorted by name
	current *appsv1.ControllerRevision
	old     []*appsv1.ControllerRevision
	pods    []*corev1.Pod // the set's own pods
	hash    string        // hash of the current revision; "" in earlier eras
}

// Sync reconciles one set, which should have one pod on each eligible node.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	if err := r.written.Ready(key); err != nil && !r.options.Without.Consistent {
		return err
	}
	obj, exists, _ := r.sets.GetByKey(key)
	if !exists {
		r.Forget(key)
		return nil
	}
	w := &work{reconciler: r, key: key, set: obj.(*appsv1.DaemonSet)}
	switch s, err := ref.ParseSome(w.set.Spec.Selector); {
	case w.stopped():
		return nil
	case err != nil:
		return fmt.Errorf("daemonset %s: bad selector: %w", key, err)
	case s == nil:
		return nil // a set whose selector matches nothing would create and release pods forever
	}
	if r.options.Without.SharedCache {
		w.set.Annotations["synced"] = "yes"
	}
	for _, obj := range r.nodes.List() {
		w.nodes = append(w.nodes, obj.(*corev1.Node))
	}
	return w.sync(ctx)
}

// stopped reports whether the reconcile ends at once because the set is terminating. Even the status is not written,
// because the set's revisions may be gone before its pods (RULES G69). The selector era has no such check.
func (w *work) stopped() bool {
	return w.set.DeletionTimestamp != nil && w.options.Era != Selector && !w.options.Without.Terminating
}

func (w *work) sync(ctx context.Context) error {
	if w.options.Era == Current {
		if err := w.construct(ctx); err != nil {
			return err
		}
	}
	awake := w.awake()
	if err := w.own(ctx); err != nil {
		return err
	}
	if !awake {
		// The reconcile has not acted on the spec, so the observed generation stays.
		return w.writeStatus(ctx, false)
	}
	err := w.manage(ctx)
	if err == nil && w.satisfied() && w.rolls() {
		err = w.roll(ctx)
	}
	if err == nil {
		err = w.cleanUp(ctx)
	}
	if statusErr := w.writeStatus(ctx, true); err == nil {
		err = statusErr
	}
	return err
}

func (w *work) satisfied() bool {
	return w.expected.Satisfied(w.key, w.set.UID)
}

// awake reports whether the set may create and delete pods. It may not while expectations are pending. From the era
// controllerref on, awake first compares the expectations with the cache.
func (w *work) awake() bool {
	if !w.bySelector() && !w.options.Without.Recheck {
		w.expected.Recheck(w.key, expectations.Look(w.reconciler.pods, w.set.UID))
	}
	return w.satisfied() || w.options.Without.Wait
}

func (w *work) bySelector() bool {
	return w.options.Era == Selector || w.options.Era == Gated
}

// own determines the set's own pods, including ended and terminating ones. It releases own pods that no longer match,
// and adopts matching orphans (LAW-1b, LAW-2). Before ControllerRef, every matching pod was the set's own.
func (w *work) own(ctx context.Context) error {
	if w.bySelector() {
		w.pods = w.selected()
		return nil
	}
	m := w.manager(&w.options.Without.Ref, pod.Kind)
	candidates := append(pod.Of(w.reconciler.pods, w.set.UID), pod.Orphans(w.reconciler.pods, w.set.Namespace)...)
	if w.options.Without.Ref.Foreign {
		candidates = pod.In(w.reconciler.pods, w.set.Namespace)
	}
	var err error
	w.pods, err = ref.Claim(ctx, m, candidates, func(p *corev1.Pod) bool { return selects(w.set, p.Labels) })
	if w.options.Without.OwnCount {
		w.pods = w.selected()
	}
	return err
}

func (w *work) manager(without *ref.Without, dependent schema.GroupVersionKind) *ref.Manager {
	return &ref.Manager{Client: w.env.Client, Owner: w.set, Kind: Kind, Dependent: dependent, Without: without}
}

// selected returns the pods that the set's selector matches, with any owner.
func (w *work) selected() []*corev1.Pod {
	s := selector(w.set)
	return slices.DeleteFunc(pod.In(w.reconciler.pods, w.set.Namespace),
		func(p *corev1.Pod) bool { return !s.Matches(labels.Set(p.Labels)) })
}

// writeStatus writes the status if it changed. If the reconcile has acted on the spec, observed must be true. Then the
// status gets the set's generation.
func (w *work) writeStatus(ctx context.Context, observed bool) error {
	status := w.count()
	if observed {
		status.ObservedGeneration = max(status.ObservedGeneration, w.set.Generation)
	}
	if !equality.Semantic.DeepEqual(status, w.set.Status) || w.options.Without.Unchanged {
		if err := w.store(ctx, status); err != nil {
			return err
		}
	}
	if status.NumberReady != status.NumberAvailable {
		w.env.Queue.AddAfter(w.key, time.Duration(w.set.Spec.MinReadySeconds)*time.Second)
	}
	return nil
}

// count returns the status. desired counts the nodes that should have a pod, and current those of them that have one.
// misscheduled counts other nodes that have a pod. If a node has several pods, only the first one counts.
func (w *work) count() appsv1.DaemonSetStatus {
	s := appsv1.DaemonSetStatus{ObservedGeneration: w.set.Status.ObservedGeneration,
		CollisionCount: w.set.Status.CollisionCount, Conditions: w.set.Status.Conditions}
	pods := w.pods
	if w.options.Without.OwnStatus {
		pods = w.selected()
	}
	have := w.byNode(pods)
	for _, node := range w.nodes {
		run, _ := fits(w.set, node, w.options)
		on := have[node.Name]
		switch {
		case !run && len(on) > 0:
			s.NumberMisscheduled++
		case run:
			s.DesiredNumberScheduled++
		}
		if !run || len(on) == 0 {
			continue
		}
		s.CurrentNumberScheduled++
		if pod.Ready(on[0]) {
			s.NumberReady++
			if w.available(on[0]) {
				s.NumberAvailable++
			}
		}
		if w.updated(on[0]) {
			s.UpdatedNumberScheduled++
		}
	}
	s.NumberUnavailable = s.DesiredNumberScheduled - s.NumberAvailable
	return s
}

// store writes a status. After any error it reads the set and retries once, unless the set was recreated.
func (w *work) store(ctx context.Context, status appsv1.DaemonSetStatus) error {
	set := *w.set
	for try := 0; ; try++ {
		changed := set
		changed.Status = status
		changed.Status.CollisionCount, changed.Status.Conditions = set.Status.CollisionCount, set.Status.Conditions
		obj, err := w.env.Client.UpdateStatus(ctx, &changed)
		if err == nil {
			w.written.Wrote(w.key, w.set.UID, Kind, obj.(*appsv1.DaemonSet))
			return nil
		}
		if try > 0 {
			return err
		}
		live, getErr := w.env.Client.Get(ctx, Kind, w.set.Namespace, w.set.Name)
		if getErr != nil {
			return getErr
		}
		set = *live.(*appsv1.DaemonSet)
		if set.UID != w.set.UID {
			return err
		}
	}
}
