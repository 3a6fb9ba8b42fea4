package endpointslice

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// reconcile writes the differences. It deletes slices of families that the Service no longer has.
func (r *reconciler) reconcile(ctx context.Context, svc *corev1.Service, pods []*corev1.Pod,
	have []*discoveryv1.EndpointSlice, trigger time.Time) error {
	byFamily := map[discoveryv1.AddressType][]*discoveryv1.EndpointSlice{}
	for _, s := range have {
		byFamily[s.AddressType] = append(byFamily[s.AddressType], s)
	}
	var errs []error
	for _, family := range families(svc) {
		p := r.planFor(svc, family, pods, byFamily[family])
		delete(byFamily, family)
		if err := r.carryOut(ctx, svc, &p, trigger); err != nil {
			errs = append(errs, err)
		}
	}
	for _, family := range slices.Sorted(maps.Keys(byFamily)) {
		if err := r.carryOut(ctx, svc, &plan{remove: byFamily[family]}, trigger); err != nil {
			errs = append(errs, err)
		}
	}
	return utilerrors.NewAggregate(errs)
}

// carryOut executes a plan. It creates nothing for a terminating Service, whose slices the garbage collector deletes
// (ADOPT-3).
func (r *reconciler) carryOut(ctx context.Context, svc *corev1.Service, p *plan, trigger time.Time) error {
	if svc.DeletionTimestamp != nil && !r.without.Terminating {
		p.create = nil
	}
	for _, s := range p.create {
		obj, err := r.env.Client.Create(ctx, dated(s, trigger))
		if err != nil {
			return err
		}
		r.note(obj.(*discoveryv1.EndpointSlice))
	}
	for _, s := range p.update {
		c := dated(s, trigger)
		if r.without.Version {
			c.ResourceVersion = ""
		}
		obj, err := r.env.Client.Update(ctx, c)
		if err != nil {
			return err
		}
		r.note(obj.(*discoveryv1.EndpointSlice))
	}
	for _, s := range p.remove {
		only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}}
		if err := r.env.Client.Delete(ctx, sliceKind, s.Namespace, s.Name, only); err != nil {
			return err
		}
		r.written.set(s, deleted)
	}
	return nil
}

func (r *reconciler) note(s *discoveryv1.EndpointSlice) { r.written.set(s, s.Generation) }

// dated adds the time of the change to a slice.
func dated(s *discoveryv1.EndpointSlice, trigger time.Time) *discoveryv1.EndpointSlice {
	c := *s
	c.Annotations = maps.Clone(s.Annotations)
	delete(c.Annotations, corev1.EndpointsLastChangeTriggerTime)
	if !trigger.IsZero() {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[corev1.EndpointsLastChangeTriggerTime] = trigger.UTC().Format(time.RFC3339Nano)
	}
	return &c
}
