package audit

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/law"
)

// Controller is what is known of a controller of kube-controller-manager.
type Controller struct {
	Name       string   // "replicaset"
	Accounts   []string // its service accounts in kube-system
	Kind       schema.GroupVersionKind
	Dependents []schema.GroupVersionKind
	Tends      []string // kinds that it edits by its office, whoever owns them
	Finalizers []string
	Polls      bool
	// Selector is what an owner selects; nil where it goes by owner references alone. Body has the
	// members of the object beside its metadata.
	Selector func(m *metav1.ObjectMeta, body []byte) labels.Selector
}

func (c *Controller) subject() law.Subject {
	s := law.Subject{Process: c.Name, Controller: c.Name, Kind: c.Kind.Kind, APIVersion: c.Kind.GroupVersion().String(),
		Tends: c.Tends, Finalizers: c.Finalizers, Polls: c.Polls}
	for _, d := range c.Dependents {
		s.Dependents = append(s.Dependents, d.Kind)
	}
	if c.Selector != nil {
		s.Selector = func(owner any) labels.Selector { return c.selects(owner.(*Object)) }
	}
	return s
}

// selects is what an owner selects, nil where nobody knows.
func (c *Controller) selects(owner *Object) labels.Selector {
	if c.Selector == nil || owner.spec == nil {
		return nil
	}
	return c.Selector(&owner.ObjectMeta, owner.spec)
}

// syncs reports whether a controller is that of an owner's kind.
func (c *Controller) syncs(ref *metav1.OwnerReference) bool {
	return ref.Kind == c.Kind.Kind && groupKind(ref) == c.groupKind()
}

func (c *Controller) groupKind() string {
	if c.Kind.Group == "" {
		return c.Kind.Kind
	}
	return c.Kind.Kind + "." + c.Kind.Group
}

// controllerOf is the known controller of an owner's kind, nil for none.
func (a *Auditor) controllerOf(ref *metav1.OwnerReference) *Controller {
	for i := range a.Controllers {
		if a.Controllers[i].syncs(ref) {
			return &a.Controllers[i]
		}
	}
	return nil
}

// claimable reports whether some controller claims objects of a kind by what it selects:
// what is made of these without a ControllerRef may be anybody's.
func (a *Auditor) claimable(kind string) bool {
	return slices.ContainsFunc(a.Controllers, func(c Controller) bool {
		return c.Selector != nil && slices.ContainsFunc(c.Dependents, func(d schema.GroupVersionKind) bool {
			return d.Kind == kind
		})
	})
}
