package endpointslice

import (
	"context"
	"maps"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// sliceShown enqueues the Service of a slice that differs from the last write, and both Services of a slice that was
// moved. A terminating slice counts as gone; upstream waits for it if another client deleted it.
func (r *reconciler) sliceShown(old, cur *discoveryv1.EndpointSlice) {
	if old != nil && old.ResourceVersion == cur.ResourceVersion {
		return // WRITE-9
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

// serviceOf returns the key of the Service in a slice's label, or "".
func serviceOf(s *discoveryv1.EndpointSlice) string {
	if name := s.Labels[discoveryv1.LabelServiceName]; name != "" {
		return s.Namespace + "/" + name
	}
	return ""
}

// Waiting lists the Services that wait until the cache shows their slices.
func (r *reconciler) Waiting() []string { return slices.Sorted(maps.Keys(r.waiting)) }

// resume continues with a Service that waited to see one of its slices.
func (r *reconciler) resume(s *discoveryv1.EndpointSlice) {
	if key := serviceOf(s); r.waiting[key] {
		delete(r.waiting, key)
		r.env.Queue.Add(key)
	}
}

// behind reports whether the cached slices of a Service do not show its writes yet. A slice that is not shown may
// already be gone without an event, or relabelled, so the server is read. Upstream does not read it, and waits forever.
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

// still reports whether a slice is the written one, and has a Service's labels.
func still(slice *discoveryv1.EndpointSlice, uid types.UID, service string) bool {
	return slice.UID == uid && serviceOf(slice) == service &&
		slice.Labels[discoveryv1.LabelManagedBy] == manager
}
