package endpointslice

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

// deleted is the generation that marks a slice as deleted by the controller.
const deleted = -1

// tracker holds the slices that the controller has written, by the key of their Service and their own uid.
type tracker map[string]map[types.UID]written

type written struct {
	generation int64
	name       string
}

func (t tracker) set(s *discoveryv1.EndpointSlice, generation int64) {
	key := serviceOf(s)
	if t[key] == nil {
		t[key] = map[types.UID]written{}
	}
	t[key][s.UID] = written{generation, s.Name}
}

func (t tracker) forget(service string) { delete(t, service) }

// surprised reports whether a slice is newer than the controller's last write, or not written by it.
func (t tracker) surprised(s *discoveryv1.EndpointSlice) bool {
	return s.Generation > t[serviceOf(s)][s.UID].generation
}

// gone records that a slice is gone, and reports whether the controller deleted it. A slice that this process did not
// write counts as deleted by others. Upstream counts such a slice as deleted by the controller, so upstream misses
// deletions by others after a restart.
func (t tracker) gone(s *discoveryv1.EndpointSlice) bool {
	w := t[serviceOf(s)][s.UID]
	delete(t[serviceOf(s)], s.UID)
	return w.generation == deleted
}

// stale reports whether the cached slices of a Service are older than the last writes.
func (t tracker) stale(service string, cached []*discoveryv1.EndpointSlice) bool {
	return slices.ContainsFunc(cached, func(s *discoveryv1.EndpointSlice) bool {
		w := t[service][s.UID]
		return w.generation == deleted || w.generation > s.Generation
	})
}

func (t tracker) missing(service string, cached []*discoveryv1.EndpointSlice) (uids []types.UID) {
	for uid, w := range t[service] { //detcheck:ordered sorted below
		if w.generation != deleted && !slices.ContainsFunc(cached, func(s *discoveryv1.EndpointSlice) bool {
			return s.UID == uid
		}) {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}

func (t tracker) digest(h *sim.Hash) {
	for _, key := range slices.Sorted(maps.Keys(t)) {
		h.String(key)
		for _, uid := range slices.Sorted(maps.Keys(t[key])) {
			h.String(string(uid))
			h.Word(uint64(t[key][uid].generation))
		}
	}
}

// triggers holds the change times that were reported, by Service key.
type triggers map[string]changes

type changes struct {
	service time.Time
	pods    map[string]time.Time // when the Pod with this name became ready or unready
}

func (t triggers) forget(service string) { delete(t, service) }

// trigger returns the time of the earliest unreported change, or zero. For a new Service this is the creation time. A
// slice stores the time in an annotation, from which users compute the programming latency.
func (t triggers) trigger(key string, svc *corev1.Service, pods []*corev1.Pod) time.Time {
	last, known := t[key]
	now := changes{service: svc.CreationTimestamp.Time, pods: map[string]time.Time{}}
	var first time.Time
	note := func(at, before time.Time) {
		if at.After(before) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for _, pod := range pods {
		if c := readyCondition(pod); c != nil && !c.LastTransitionTime.IsZero() {
			now.pods[pod.Name] = c.LastTransitionTime.Time
			note(c.LastTransitionTime.Time, last.pods[pod.Name])
		}
	}
	note(now.service, last.service)
	t[key] = now
	if !known {
		return now.service
	}
	return first
}

func (t triggers) digest(h *sim.Hash) {
	for _, key := range slices.Sorted(maps.Keys(t)) {
		h.String(key)
		h.Word(uint64(t[key].service.UnixNano()))
		for _, pod := range slices.Sorted(maps.Keys(t[key].pods)) {
			h.String(pod)
			h.Word(uint64(t[key].pods[pod].UnixNano()))
		}
	}
}

// sliceShown enqueues the Service of a slice that differs from the controller's last write. If the slice's label now
// names another Service, it enqueues both. A terminating slice counts as gone. Upstream waits if another client deleted
// it.
func (r *reconciler) sliceShown(old, cur *discoveryv1.EndpointSlice) {
	if old != nil && old.ResourceVersion == cur.ResourceVersion {
		return // a resync, which shows no change (WRITE-9)
	}
	r.resume(cur)
	switch {
	case cur.DeletionTimestamp != nil && !r.without.Dying:
		r.sliceGone(cur)
	case old != nil && serviceOf(old) != serviceOf(cur):
		r.wake(cur)
		r.wake(old)
	case old != nil && managed(old) != managed(cur), managed(cur) && r.written.surprised(cur):
		r.wake(cur)
	}
}

func (r *reconciler) sliceGone(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = t.Obj
	}
	s := obj.(*discoveryv1.EndpointSlice)
	if managed(s) && !r.written.gone(s) {
		r.wake(s)
	}
	r.resume(s)
}

func (r *reconciler) wake(s *discoveryv1.EndpointSlice) {
	if key := serviceOf(s); key != "" && !r.without.Children {
		r.env.Queue.AddAfter(key, settleDown)
	}
}

func managed(s *discoveryv1.EndpointSlice) bool {
	return s.Labels[discoveryv1.LabelManagedBy] == manager
}

func serviceOf(s *discoveryv1.EndpointSlice) string {
	if name := s.Labels[discoveryv1.LabelServiceName]; name != "" {
		return s.Namespace + "/" + name
	}
	return ""
}

// Waiting lists the Services that wait until the cache shows their slices.
func (r *reconciler) Waiting() []string { return slices.Sorted(maps.Keys(r.waiting)) }

// resume enqueues a Service that waited for one of its slices.
func (r *reconciler) resume(s *discoveryv1.EndpointSlice) {
	if key := serviceOf(s); r.waiting[key] {
		delete(r.waiting, key)
		r.env.Queue.Add(key)
	}
}

// behind reports whether the cached slices of a Service do not show its writes yet. A written slice that the cache
// lacks may be relabelled, or gone without an event. Therefore behind reads it from the server. Upstream waits forever.
func (r *reconciler) behind(ctx context.Context, key, namespace string,
	have []*discoveryv1.EndpointSlice) (bool, error) {
	stale := r.written.stale(key, have)
	for _, uid := range r.written.missing(key, have) {
		if r.without.Lost {
			return true, nil
		}
		obj, err := r.env.Client.Get(ctx, sliceKind, namespace, r.written[key][uid].name)
		switch {
		case apierrors.IsNotFound(err) || err == nil && !still(obj.(*discoveryv1.EndpointSlice), uid, key):
			delete(r.written[key], uid)
		case err != nil:
			return false, err
		default:
			stale = true
		}
	}
	return stale, nil
}

// still reports whether a slice has the written uid, and the labels with which a Service's slices are found.
func still(slice *discoveryv1.EndpointSlice, uid types.UID, service string) bool {
	return slice.UID == uid && serviceOf(slice) == service &&
		slice.Labels[discoveryv1.LabelManagedBy] == manager
}
