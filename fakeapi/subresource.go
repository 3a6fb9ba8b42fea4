package fakeapi

import (
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func (c *call) createSubresource() Response {
	if c.k.row.Grace != nil {
		switch c.req.Subresource {
		case "eviction":
			return c.evict()
		case "binding":
			return c.bind()
		}
	}
	return refuse(errNoSubresource())
}

func (c *call) updateSubresource() Response {
	if c.req.Subresource == "scale" && c.k.row.Scale != nil {
		return c.rescale()
	}
	return refuse(errNoSubresource())
}

// getSubresource reads a subresource: most are the object itself.
func (c *call) getSubresource() Response {
	if c.req.Subresource == "scale" && c.k.row.Scale != nil {
		return c.getScale()
	}
	if c.k.row.Way(c.req.Subresource) == nil {
		return refuse(errNoSubresource())
	}
	e := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	return Response{Object: e.obj, Code: http.StatusOK}
}

func success() *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Code: http.StatusCreated}
}

// bind is what a scheduler does: it gives a Pod its node.
func (c *call) bind() Response {
	asked, ok := c.req.Object.(*corev1.Binding)
	if !ok || asked.Target.Name == "" {
		return refuse(apierrors.NewBadRequest("a binding names the node in target.name"))
	}
	asked = asked.DeepCopy()
	asked.SetGroupVersionKind(bindings.GVK)
	if err := c.admitPosted(asked, len(c.req.Create.DryRun) > 0); err != nil {
		return refuse(err)
	}
	bind := whole(func(old *entry) (runtime.Object, error) {
		return c.bound(old.obj.(*corev1.Pod), asked.Target.Name)
	})
	r := c.modify(&edit{way: &bare, uid: asked.UID, dryRun: len(c.req.Create.DryRun) > 0, make: bind})
	if r.Err == nil {
		r = Response{Object: success(), Code: http.StatusCreated}
	}
	return r
}

// bound is a Pod with a node.
func (c *call) bound(p *corev1.Pod, node string) (*corev1.Pod, error) {
	if p.DeletionTimestamp != nil {
		return nil, c.errConflict(p.Name, fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", p.Name))
	}
	if p.Spec.NodeName != "" {
		return nil, c.errConflict(p.Name, fmt.Sprintf("pod %s is already assigned to node %q", p.Name, p.Spec.NodeName))
	}
	bound := *p
	bound.Spec.NodeName = node
	at := metadata.Seconds(c.now)
	bound.Status.Conditions = append(bound.Status.Conditions[:len(p.Status.Conditions):len(p.Status.Conditions)],
		corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at})
	return &bound, nil
}
