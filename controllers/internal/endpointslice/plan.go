package endpointslice

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// capacity is the maximum number of endpoints in a slice.
const capacity = 100

// plan lists the writes to a Service's slices of one address family.
type plan struct {
	create, update, remove []*discoveryv1.EndpointSlice
}

// group holds the endpoints and the slices with the same ports.
type group struct {
	ports  []discoveryv1.EndpointPort
	wanted map[string]discoveryv1.Endpoint // the endpoints to publish, by identity
	slices []*discoveryv1.EndpointSlice
	pods   bool // a Pod has these ports, even if it has no endpoint because its node is not in the cache
}

// groups groups Pods and slices by ports. An endpoint contains data of its Pod's node. So a Pod whose node is missing
// from the cache gets no endpoint, unless the Service has publishNotReadyAddresses.
func (r *reconciler) groups(svc *corev1.Service, family discoveryv1.AddressType, pods []*corev1.Pod,
	have []*discoveryv1.EndpointSlice) map[string]*group {
	groups := map[string]*group{}
	of := func(ports []discoveryv1.EndpointPort) *group {
		key := portsKey(ports)
		if groups[key] == nil {
			groups[key] = &group{ports: ports, wanted: map[string]discoveryv1.Endpoint{}}
		}
		return groups[key]
	}
	for _, s := range have {
		g := of(s.Ports)
		g.slices = append(g.slices, s)
	}
	for _, pod := range pods {
		if !listed(pod) {
			continue
		}
		g := of(portsOf(svc, pod))
		g.pods = true
		obj, exists, _ := r.nodes.GetByKey(pod.Spec.NodeName)
		if !exists && !svc.Spec.PublishNotReadyAddresses {
			continue
		}
		node, _ := obj.(*corev1.Node)
		if e := endpointOf(pod, node, svc, family); len(e.Addresses) > 0 {
			g.wanted[identity(&e)] = e
		}
	}
	return groups
}

func (r *reconciler) planFor(svc *corev1.Service, family discoveryv1.AddressType, pods []*corev1.Pod,
	have []*discoveryv1.EndpointSlice) (p plan) {
	groups := r.groups(svc, family, pods, have)
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		if g := groups[key]; g.pods {
			g.plan(&p, r.newSlice(svc, family, g.ports))
		} else {
			p.remove = append(p.remove, g.slices...)
		}
	}
	if len(p.create) == 0 && len(p.remove) == len(have) {
		p.keepOne(r.newSlice(svc, family, nil))
	}
	p.reuse()
	return p
}

// plan distributes the endpoints over the slices. An endpoint stays in its slice. New endpoints go to slices that
// change anyway, then to a slice with room, then to new slices. If all endpoints fit into one slice, only one slice
// remains. Upstream may leave two. fresh is an empty new slice.
func (g *group) plan(p *plan, fresh *discoveryv1.EndpointSlice) {
	left := maps.Clone(g.wanted)
	if len(left) <= capacity && len(g.slices) > 1 {
		p.remove = append(p.remove, g.slices[1:]...)
		g.slices = g.slices[:1]
	}
	var changed, same []*discoveryv1.EndpointSlice
	for _, s := range g.slices {
		keep, differs := g.keep(s, left)
		switch {
		case differs && len(keep) == 0:
			p.remove = append(p.remove, s)
		case differs, !sameLabels(s.Labels, fresh.Labels):
			c := *s
			c.Endpoints, c.Labels = keep, fresh.Labels
			changed = append(changed, &c)
		default:
			same = append(same, s)
		}
	}
	rest := slices.SortedFunc(maps.Values(left), byTarget) //detcheck:ordered left has one of each target
	fill := func(s *discoveryv1.EndpointSlice) {
		n := min(len(rest), capacity-len(s.Endpoints))
		s.Endpoints = append(slices.Clip(s.Endpoints), rest[:n]...)
		rest = rest[n:]
	}
	slices.SortStableFunc(changed, func(a, b *discoveryv1.EndpointSlice) int {
		return cmp.Compare(len(b.Endpoints), len(a.Endpoints)) // the fullest slice first
	})
	for _, s := range changed {
		fill(s)
	}
	for len(rest) > 0 {
		if s := roomFor(same, len(rest)); s != nil {
			c := *s
			fill(&c)
			changed = append(changed, &c)
			continue
		}
		c := *fresh
		fill(&c)
		p.create = append(p.create, &c)
	}
	p.update = append(p.update, changed...)
}

// keep returns the endpoints of a slice that are still wanted, with their new content, and removes them from the map
// left. differs is set if the slice's endpoints change.
func (g *group) keep(s *discoveryv1.EndpointSlice, left map[string]discoveryv1.Endpoint) (keep []discoveryv1.Endpoint,
	differs bool) {
	for i := range s.Endpoints {
		id := identity(&s.Endpoints[i])
		e, ok := left[id]
		if !ok {
			differs = true
			continue
		}
		keep = append(keep, e)
		differs = differs || encode(e) != encode(s.Endpoints[i])
		delete(left, id)
	}
	return keep, differs
}

// roomFor returns the fullest slice with room for n more endpoints, or nil. It also returns nil if n fills a new slice.
func roomFor(from []*discoveryv1.EndpointSlice, n int) (best *discoveryv1.EndpointSlice) {
	if n >= capacity {
		return nil
	}
	for _, s := range from {
		if len(s.Endpoints)+n <= capacity && (best == nil || len(s.Endpoints) > len(best.Endpoints)) {
			best = s
		}
	}
	return best
}

// keepOne makes sure that a Service without endpoints has an empty slice.
func (p *plan) keepOne(empty *discoveryv1.EndpointSlice) {
	if len(p.remove) == 1 && len(p.remove[0].Endpoints) == 0 && len(p.remove[0].Ports) == 0 &&
		sameLabels(p.remove[0].Labels, empty.Labels) {
		p.remove = nil
		return
	}
	p.create = append(p.create, empty)
}

// reuse updates slices that would be deleted, so that fewer new ones are created.
func (p *plan) reuse() {
	for len(p.create) > 0 && len(p.remove) > 0 {
		last := p.create[len(p.create)-1]
		c := *p.remove[0]
		c.Labels, c.Annotations, c.Ports, c.Endpoints = last.Labels, nil, last.Ports, last.Endpoints
		p.update = append(p.update, &c)
		p.create, p.remove = p.create[:len(p.create)-1], p.remove[1:]
	}
}

// newSlice returns an empty slice with the ControllerRef (LAW-1).
func (r *reconciler) newSlice(svc *corev1.Service, family discoveryv1.AddressType,
	ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: svc.Namespace, GenerateName: svc.Name + "-", Labels: map[string]string{},
		},
		AddressType: family, Ports: ports,
	}
	maps.Copy(s.Labels, svc.Labels)
	delete(s.Labels, corev1.IsHeadlessService)
	if svc.Spec.ClusterIP == corev1.ClusterIPNone {
		s.Labels[corev1.IsHeadlessService] = ""
	}
	s.Labels[discoveryv1.LabelServiceName], s.Labels[discoveryv1.LabelManagedBy] = svc.Name, manager
	if !r.without.TakeOwned {
		s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(svc, serviceKind)}
	}
	return s
}

// sameLabels compares the labels of two slices of a Service, except the headless label.
func sameLabels(a, b map[string]string) bool {
	theirs := func(m map[string]string) map[string]string {
		out := maps.Clone(m)
		delete(out, corev1.IsHeadlessService)
		return out
	}
	return maps.Equal(theirs(a), theirs(b))
}

// identity returns the addresses, the hostname and the Pod of an endpoint, which identify it.
func identity(e *discoveryv1.Endpoint) string {
	id := []string{strings.Join(slices.Sorted(slices.Values(e.Addresses)), ","), "", "", ""}
	if e.Hostname != nil {
		id[1] = *e.Hostname
	}
	if e.TargetRef != nil {
		id[2], id[3] = e.TargetRef.Namespace, e.TargetRef.Name
	}
	return strings.Join(id, "/")
}

func byTarget(a, b discoveryv1.Endpoint) int { return cmp.Compare(identity(&a), identity(&b)) }

func portsKey(ports []discoveryv1.EndpointPort) string {
	keys := make([]string, len(ports))
	for i := range ports {
		keys[i] = encode(ports[i])
	}
	slices.Sort(keys)
	return strings.Join(keys, "\n")
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("endpointslice: what is in a slice does not encode: " + err.Error())
	}
	return string(b)
}

// reconcile writes the slices of a Service. It also deletes slices of address families that the Service no longer has.
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

// carryOut executes a plan. For a terminating Service it creates no slices, because they would be deleted (ADOPT-3).
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

// dated returns a copy of a slice with the time trigger in an annotation, or without the annotation if trigger is zero.
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
