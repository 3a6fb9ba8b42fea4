// Package quota is the ResourceQuota controller. It writes the usage of a namespace into the status of each quota. The
// server refuses requests that exceed a quota.
package quota

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/quotausage"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var quotaKind = corev1.SchemeGroupVersion.WithKind("ResourceQuota")

func New() host.Controller {
	return host.Controller{
		Name: "resourcequota", Contract: law.Contract{Profile: law.Upstream}, For: quotaKind,
		New: func(env *host.Env) host.Reconciler {
			return &reconciler{env: env, quotas: env.Informer(quotaKind).GetIndexer(),
				watched: map[schema.GroupVersionKind]bool{}}
		},
		Routes: []host.Route{{Kind: quotaKind, Do: wakeQuota}},
	}
}

// wakeQuota enqueues a quota that is new or deleted. It also enqueues a quota if the limits in its spec have changed,
// or differ from those in its status.
func wakeQuota(_ host.View, e host.Event, out *host.Effect) {
	old, _ := e.Old.(*corev1.ResourceQuota)
	cur, _ := e.New.(*corev1.ResourceQuota)
	switch {
	case cur == nil:
		out.Keys = append(out.Keys, routing.Key(old))
	case old == nil, !quotausage.Equal(old.Spec.Hard, cur.Spec.Hard), !quotausage.Equal(cur.Spec.Hard, cur.Status.Hard):
		out.Keys = append(out.Keys, routing.Key(cur))
	}
}

// reconciler remembers which kinds it watches, because the first quota that counts a kind starts the watch.
type reconciler struct {
	env     *host.Env
	quotas  cache.Indexer
	watched map[schema.GroupVersionKind]bool
}

// Digest hashes the watched kinds, because a watch stays after its quota is deleted.
func (r *reconciler) Digest(h *sim.Hash) {
	var sum uint64
	for kind := range r.watched { //detcheck:ordered a sum
		sum += sim.Mix(sim.HashString(kind.String()))
	}
	h.Word(sum)
}

var errNotListed = errors.New("what is to be counted has not been listed yet")

func (r *reconciler) Sync(ctx context.Context, key string) error {
	obj, exists, err := r.quotas.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	q := obj.(*corev1.ResourceQuota)
	used := corev1.ResourceList{}
	for name, n := range q.Status.Used { //detcheck:ordered each name is set once
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
	if q.Status.Hard != nil && q.Status.Used != nil && quotausage.Equal(q.Spec.Hard, q.Status.Hard) &&
		quotausage.Equal(used, q.Status.Used) {
		return nil
	}
	updated := *q
	updated.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: used}
	_, err = r.env.Client.UpdateStatus(ctx, &updated)
	return err
}

// measure writes the namespace's usage of the limited resources into used. It returns the time until the next
// terminating Pod stops counting, or 0.
func (r *reconciler) measure(q *corev1.ResourceQuota, used corev1.ResourceList) (soon time.Duration, err error) {
	for _, k := range r.env.Kinds() {
		if !limitedBy(q, k) {
			continue
		}
		objs, err := r.list(k, q.Namespace)
		if err != nil {
			return 0, err
		}
		sum := corev1.ResourceList{}
		for _, obj := range objs {
			if !quotausage.Governs(q, obj) {
				continue
			}
			quotausage.Of(k.GVR().GroupResource(), obj, r.env.Now()).AddTo(sum)
			if pod, ok := obj.(*corev1.Pod); ok {
				if left := quotausage.UntilWrittenOff(pod, r.env.Now()); left > 0 && (soon == 0 || left < soon) {
					soon = left
				}
			}
		}
		for name := range q.Spec.Hard { //detcheck:ordered each name is set once
			if quotausage.Measures(k.GVR().GroupResource(), name) {
				used[name] = sum[name]
			}
		}
	}
	return soon, nil
}

// list lists a kind from its informer. The first call for a kind starts the informer.
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
			panic("quota: no handler can be added: " + err.Error())
		}
	}
	if !informer.HasSynced() {
		return nil, errNotListed
	}
	objs, err := informer.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		panic("quota: " + err.Error())
	}
	out := make([]runtime.Object, len(objs))
	for i := range objs {
		out[i] = objs[i].(runtime.Object)
	}
	return out, nil
}

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

// limitedBy reports whether objects of a kind count towards a limit of a quota. Events never count.
func limitedBy(q *corev1.ResourceQuota, k *fakeapi.Kind) bool {
	if !k.Namespaced || k.Resource == "events" {
		return false
	}
	for name := range q.Spec.Hard { //detcheck:ordered any name will do
		if quotausage.Measures(k.GVR().GroupResource(), name) {
			return true
		}
	}
	return false
}
