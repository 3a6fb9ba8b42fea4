package fakeapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

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

func (c *call) bind() Response {
	asked, ok := c.req.Object.(*corev1.Binding)
	if !ok || asked.Target.Name == "" {
		return refuse(apierrors.NewBadRequest("a binding names the node in target.name"))
	}
	asked = asked.DeepCopy()
	asked.SetGroupVersionKind(bindings.GVK)
	if asked.Target.Kind == "Node" {
		c.s.labelTopology(&asked.ObjectMeta, asked.Target.Name)
	}
	if err := c.admitPosted(asked, len(c.req.Create.DryRun) > 0); err != nil {
		return refuse(err)
	}
	bind := whole(func(old *entry) (runtime.Object, error) {
		return c.bound(old.obj.(*corev1.Pod), asked)
	})
	r := c.modify(&edit{way: &bare, uid: asked.UID, dryRun: len(c.req.Create.DryRun) > 0, make: bind})
	if r.Err == nil {
		r = Response{Object: success(), Code: http.StatusCreated}
	}
	return r
}

// bound returns a Pod with the node, labels and annotations of a binding.
func (c *call) bound(p *corev1.Pod, b *corev1.Binding) (*corev1.Pod, error) {
	switch {
	case p.DeletionTimestamp != nil:
		return nil, c.errConflict(p.Name, fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", p.Name))
	case p.Spec.NodeName != "":
		return nil, c.errConflict(p.Name, fmt.Sprintf("pod %s is already assigned to node %q", p.Name, p.Spec.NodeName))
	case len(p.Spec.SchedulingGates) > 0:
		return nil, c.errConflict(p.Name, fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", p.Name))
	}
	bound := *p
	bound.Spec.NodeName, bound.Status.NominatedNodeName = b.Target.Name, ""
	bound.Labels, bound.Annotations = merged(p.Labels, b.Labels), merged(p.Annotations, b.Annotations)
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
		LastTransitionTime: metadata.Seconds(c.now)}
	bound.Status.Conditions = slices.Clone(p.Status.Conditions)
	is := func(c corev1.PodCondition) bool { return c.Type == scheduled.Type }
	if i := slices.IndexFunc(bound.Status.Conditions, is); i < 0 {
		bound.Status.Conditions = append(bound.Status.Conditions, scheduled)
	} else {
		if was := bound.Status.Conditions[i]; was.Status == scheduled.Status {
			scheduled.LastTransitionTime = was.LastTransitionTime
		}
		bound.Status.Conditions[i] = scheduled
	}
	return &bound, nil
}

func merged(m, more map[string]string) map[string]string {
	if len(more) == 0 {
		return m
	}
	all := make(map[string]string, len(m)+len(more))
	maps.Copy(all, m)
	maps.Copy(all, more)
	return all
}
