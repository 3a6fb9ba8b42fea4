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

// deleted stands for the generation of a slice that the controller has deleted.
const deleted = -1

// tracker holds the slices that the controller has written, by Service key and uid.
type tracker map[string]map[types.UID]written

// written is a slice as last written.
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

// surprised reports whether a slice is newer than the last write, or was not written here.
func (t tracker) surprised(s *discoveryv1.EndpointSlice) bool {
	return s.Generation > t[serviceOf(s)][s.UID].generation
}

// gone records that a slice is gone, and reports whether the controller deleted it. A slice that this process did not
// write counts as deleted by others. Upstream assumes that it deleted it, and so misses deletions by others after a
// restart.
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

// missing returns the uids of a Service's written slices that the cache does not show.
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

// triggers holds the change times already reported, by Service key.
type triggers map[string]changes

type changes struct {
	service time.Time
	pods    map[string]time.Time // when each became ready or unready, by name
}

func (t triggers) forget(service string) { delete(t, service) }

// trigger returns the time of the first unreported change; a slice stores it in an annotation, for measuring the
// programming latency. For a new Service it is the creation time; zero means none.
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
