package audit

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/law"
)

// Controller is a controller of kube-controller-manager as the laws judge it by a log: its Process is its name, and of
// its Contract counts what can be told of an [Object].
type Controller struct {
	law.Actor
	Accounts []string // its service accounts in kube-system
}

// syncs reports whether a controller is that of an owner's kind.
func (c *Controller) syncs(ref *metav1.OwnerReference) bool {
	return ref.Kind == c.For.Kind && groupKind(ref) == c.groupKind()
}

func (c *Controller) groupKind() string {
	if c.For.Group == "" {
		return c.For.Kind
	}
	return c.For.Kind + "." + c.For.Group
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
		return c.Selector != nil && slices.ContainsFunc(c.Owns, func(d schema.GroupVersionKind) bool {
			return d.Kind == kind
		})
	})
}
