package trial

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Subject tells the laws what a process runs.
func Subject(process string, c host.Controller) law.Subject {
	s := law.Subject{Process: process, Controller: c.Name, Kind: c.For.Kind}
	for _, gvk := range c.Owns {
		s.Dependents = append(s.Dependents, gvk.Kind)
	}
	if c.Selector != nil {
		s.Selector = func(owner any) labels.Selector { return c.Selector(owner.(runtime.Object)) }
	}
	if c.Replicas != nil {
		s.Replicas = func(owner any) int { return c.Replicas(owner.(runtime.Object)) }
	}
	if c.Counted != nil {
		s.Counted = func(owner any) int { return c.Counted(owner.(runtime.Object)) }
	}
	if c.Active != nil {
		s.Active = func(object any) bool { return c.Active(object.(runtime.Object)) }
	}
	return s
}
