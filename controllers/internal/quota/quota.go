// Package quota is the ResourceQuota controller: it writes into the status of each
// quota what its namespace uses of what the quota limits.
//
// It counts; what would be too much is refused by the server when it is created. What
// a resize of a running Pod has been granted is not counted.
package quota

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var quotaKind = corev1.SchemeGroupVersion.WithKind("ResourceQuota")

// New returns the controller.
func New() host.Controller {
	return host.Controller{
		Name: "resourcequota", Profile: host.Upstream, For: quotaKind,
		New: func(env *host.Env) host.Reconciler {
			return &reconciler{env: env, quotas: env.Informer(quotaKind).GetIndexer(),
				watched: map[schema.GroupVersionKind]bool{}}
		},
		Routes: []host.Route{{Kind: quotaKind, Do: wakeQuota}},
	}
}

// wakeQuota wakes a quota that is there anew or limits something else. What became of
// its status is the controller's own doing.
func wakeQuota(_ host.View, e host.Event, out *host.Effect) {
	old, _ := e.Old.(*corev1.ResourceQuota)
	cur, _ := e.New.(*corev1.ResourceQuota)
	switch {
	case cur == nil:
		out.Keys = append(out.Keys, routing.Key(old))
	case old == nil, !equal(old.Spec.Hard, cur.Spec.Hard), !equal(cur.Spec.Hard, cur.Status.Hard):
		out.Keys = append(out.Keys, routing.Key(cur))
	}
}

// reconciler remembers which kinds it watches: those that some quota counts.
type reconciler struct {
	env     *host.Env
	quotas  cache.Indexer
	watched map[schema.GroupVersionKind]bool
}

// Digest folds which kinds are watched: a quota that is gone had them watched as well.
func (r *reconciler) Digest(h *sim.Hash) {
	var sum uint64
	for kind := range r.watched {
		sum += sim.Mix(sim.HashString(kind.String()))
	}
	h.Word(sum)
}

var errNotListed = errors.New("what is to be counted has not been listed yet")

// Sync brings the status of one quota up to date.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	obj, exists, err := r.quotas.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	q := obj.(*corev1.ResourceQuota)
	used := corev1.ResourceList{}
	for name, n := range q.Status.Used {
		if _, limited := q.Spec.Hard[name]; limited {
			used[name] = n
		}
	}
	soon, err := r.measure(q, used)
	if err != nil {
		return err
	}
	if soon > 0 {
		r.env.Queue.AddAfter(key, soon)
	}
	if q.Status.Hard != nil && q.Status.Used != nil && equal(q.Spec.Hard, q.Status.Hard) && equal(used, q.Status.Used) {
		return nil
	}
	updated := *q
	updated.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: used}
	_, err = r.env.Client.UpdateStatus(ctx, &updated)
	return err
}

// measure puts into used what the quota's namespace uses of what it limits. It returns
// after what time a Pod that is being deleted ceases to count.
func (r *reconciler) measure(q *corev1.ResourceQuota, used corev1.ResourceList) (soon time.Duration, err error) {
	for _, k := range r.env.Kinds() {
		names := limitedBy(q, k)
		if len(names) == 0 {
			continue
		}
		objs, err := r.list(k, q.Namespace)
		if err != nil {
			return 0, err
		}
		sum := corev1.ResourceList{}
		for _, obj := range objs {
			if !inScope(q, obj) {
				continue
			}
			add(sum, usage(k, obj, r.env.Now()))
			if pod, ok := obj.(*corev1.Pod); ok {
				if left := untilWrittenOff(pod, r.env.Now()); left > 0 && (soon == 0 || left < soon) {
					soon = left
				}
			}
		}
		for _, name := range names {
			n, ok := sum[name]
			if !ok {
				n = resource.Quantity{Format: resource.DecimalSI}
			}
			used[name] = n
		}
	}
	return soon, nil
}

// list lists a kind from its informer, which is started when the first quota counts it.
func (r *reconciler) list(k *fakeapi.Kind, namespace string) ([]runtime.Object, error) {
	informer := r.env.Informer(k.GVK)
	if !r.watched[k.GVK] {
		r.watched[k.GVK] = true
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: r.wake, UpdateFunc: func(old, cur any) {
				if old.(metav1.Object).GetResourceVersion() != cur.(metav1.Object).GetResourceVersion() {
					r.wake(cur)
				}
			},
			DeleteFunc: r.wake,
		})
		if err != nil {
			return nil, err
		}
	}
	if !informer.HasSynced() {
		return nil, errNotListed
	}
	objs, err := informer.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	out := make([]runtime.Object, len(objs))
	for i := range objs {
		out[i] = objs[i].(runtime.Object)
	}
	return out, err
}

// wake wakes the quotas of an object's namespace.
func (r *reconciler) wake(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = t.Obj
	}
	quotas, err := r.quotas.ByIndex(cache.NamespaceIndex, obj.(metav1.Object).GetNamespace())
	if err != nil {
		panic("quota: " + err.Error())
	}
	for _, q := range quotas {
		r.env.Queue.Add(routing.Key(q.(metav1.Object)))
	}
}

// limitedBy are the names of a quota that are measured in objects of a kind.
func limitedBy(q *corev1.ResourceQuota, k *fakeapi.Kind) (names []corev1.ResourceName) {
	if !k.Namespaced || k.Resource == "events" {
		return nil
	}
	for name := range q.Spec.Hard {
		if name == countOf(k) || k.GVK.Group == "" && countedAs(name, k.Resource) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// countOf is the name by which objects of any kind are counted.
func countOf(k *fakeapi.Kind) corev1.ResourceName {
	return corev1.ResourceName("count/" + k.GVR().GroupResource().String())
}

// countedAs: a resource of the core group is measured under a name of its own.
func countedAs(name corev1.ResourceName, kind string) bool {
	switch kind {
	case "configmaps", "resourcequotas", "replicationcontrollers", "secrets":
		return string(name) == kind
	case "services":
		return name == corev1.ResourceServices || name == corev1.ResourceServicesNodePorts ||
			name == corev1.ResourceServicesLoadBalancers
	case "persistentvolumeclaims":
		_, byClass, _ := strings.Cut(string(name), storageClass)
		what := corev1.ResourceName(byClass)
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage ||
			what == corev1.ResourcePersistentVolumeClaims || what == corev1.ResourceRequestsStorage
	case "pods":
		return ofPods(name)
	}
	return false
}

func equal(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, n := range a {
		if m, ok := b[name]; !ok || n.Cmp(m) != 0 {
			return false
		}
	}
	return true
}

// add adds a list to a sum.
func add(sum, more corev1.ResourceList) {
	for name, n := range more {
		total := sum[name].DeepCopy()
		total.Add(n)
		sum[name] = total
	}
}
