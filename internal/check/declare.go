package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/host"
)

// plenty is more dependents than any owner has: how many it may have too many, or lack,
// for a moment nobody can see from without.
const plenty = 1 << 20

// declared is the controller with what was found out of it, where it does not say so
// itself. What is found nowhere is left unknown.
func (f *found) declared(s *subject) host.Controller {
	c := s.Controller
	c.Contract.Profile = s.Profile
	c.Owns = f.owns
	c.Contract.Standalone = append(slices.Clone(c.Contract.Standalone), slices.Concat(s.own, f.shared)...)
	c.Contract.SharedKinds = append(slices.Clone(c.Contract.SharedKinds), f.also...)
	if len(c.Contract.Finalizers) == 0 {
		c.Contract.Finalizers = f.finalizers
	}
	if c.Contract.Selector == nil && f.selector != nil {
		c.Contract.Selector = func(owner runtime.Object) labels.Selector { return f.selector.of(owner) }
	}
	if len(c.Contract.Unwatched) == 0 {
		c.Contract.Unwatched = f.asleep
	}
	if c.Contract.Replicas == nil && c.Contract.MaxActive == nil && c.Contract.Active == nil && f.wants != nil {
		c.Contract.Replicas = f.wants.of
		c.Contract.Active = func(dependent runtime.Object) bool { return f.counts(s, dependent) }
		c.Contract.MaxSurge = func(runtime.Object) int { return plenty }
		c.Contract.MaxUnavailable = c.Contract.MaxSurge
	}
	return c
}
