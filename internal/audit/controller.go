package audit

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/law"
)

// Controller is a controller of kube-controller-manager as the laws judge it by a log. Its Process is its name. Of its
// Contract, only what an [Object] shows is used.
type Controller struct {
	law.Actor
	Accounts []string // its service accounts in kube-system
}

// syncs reports whether a controller reconciles an owner's kind.
func (c *Controller) syncs(ref *metav1.OwnerReference) bool {
	return ref.Kind == c.For.Kind && groupKind(ref) == c.groupKind()
}

func (c *Controller) groupKind() string {
	if c.For.Group == "" {
		return c.For.Kind
	}
	return c.For.Kind + "." + c.For.Group
}

// controllerOf returns the known controller of an owner's kind, or nil.
func (a *Auditor) controllerOf(ref *metav1.OwnerReference) *Controller {
	for i := range a.Controllers {
		if a.Controllers[i].syncs(ref) {
			return &a.Controllers[i]
		}
	}
	return nil
}

// claimable reports whether some controller adopts objects of a kind by selector. One created without a ControllerRef
// may belong to any of them.
func (a *Auditor) claimable(kind string) bool {
	return slices.ContainsFunc(a.Controllers, func(c Controller) bool {
		return c.Selector != nil && slices.ContainsFunc(c.Owns, func(d schema.GroupVersionKind) bool {
			return d.Kind == kind
		})
	})
}
