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
	c.Profile = s.Profile
	c.Owns = f.owns
	c.Standalone = append(slices.Clone(c.Standalone), s.own...)
	c.Also = append(slices.Clone(c.Also), f.also...)
	if len(c.Finalizers) == 0 {
		c.Finalizers = f.finalizers
	}
	if c.Selector == nil && f.selector != nil {
		c.Selector = func(owner runtime.Object) labels.Selector { return f.selector.of(owner) }
	}
	if len(c.Unwatched) == 0 {
		c.Unwatched = f.asleep
	}
	if c.Replicas == nil && c.Most == nil && c.Active == nil && f.wants != nil {
		c.Replicas = f.wants.of
		c.Active = func(dependent runtime.Object) bool { return f.counts(s, dependent) }
		c.Surge = func(runtime.Object) int { return plenty }
		c.Unavailable = c.Surge
	}
	return c
}
