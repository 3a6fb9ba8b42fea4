package endpointslice

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// deleted is the generation of a slice that the controller has deleted.
const deleted = -1

// tracker has, for each Service by its key, the slices that the controller has written,
// by uid.
type tracker map[string]map[types.UID]written

// written is a slice as it was written last.
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

// surprised: a slice is newer than what was written, or was not written here.
func (t tracker) surprised(s *discoveryv1.EndpointSlice) bool {
	return s.Generation > t[serviceOf(s)][s.UID].generation
}

// gone notes that a slice is gone. It reports whether that was the controller's doing.
// What it did not write in this life is nobody's doing here; upstream takes it for its
// own, and does not see after a restart that others delete its slices.
func (t tracker) gone(s *discoveryv1.EndpointSlice) bool {
	w := t[serviceOf(s)][s.UID]
	delete(t[serviceOf(s)], s.UID)
	return w.generation == deleted
}

// stale: the cached slices of a Service are older than what was written.
func (t tracker) stale(service string, cached []*discoveryv1.EndpointSlice) bool {
	return slices.ContainsFunc(cached, func(s *discoveryv1.EndpointSlice) bool {
		w := t[service][s.UID]
		return w.generation == deleted || w.generation > s.Generation
	})
}

// missing are the slices of a Service that were written and that the cache does not
// show, by uid.
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

// triggers has, for each Service by its key, the times of the changes that were told.
type triggers map[string]changes

type changes struct {
	service time.Time
	pods    map[string]time.Time // when each became ready, or ceased to be, by name
}

func (t triggers) forget(service string) { delete(t, service) }

// trigger is the time of the first change that has not been told: a slice says so in
// an annotation, from which the delay of the network is measured. Of a Service that
// is met the first time it is that of its creation; zero means that there is none.
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
