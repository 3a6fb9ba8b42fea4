package fakeapi

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
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

func (c *call) rescale() Response {
	ed := &edit{way: &c.k.row.Main}
	switch c.req.Verb {
	case Update:
		asked, ok := c.req.Object.(*autoscalingv1.Scale)
		if !ok {
			return refuse(apierrors.NewBadRequest(fmt.Sprintf("expected a Scale, got %T", c.req.Object)))
		}
		asked = asked.DeepCopy()
		if err := c.matchNamespace(asked); err != nil {
			return refuse(err)
		}
		if err := c.matchName(asked); err != nil {
			return refuse(err)
		}
		ed.uid, ed.dryRun = asked.UID, len(c.req.Update.DryRun) > 0
		ed.make = whole(func(old *entry) (runtime.Object, error) { return c.scaled(old, asked) })
	case Patch:
		if c.k.custom != nil && !slices.Contains(customPatches, string(c.req.PatchType)) {
			return refuse(errCustomPatch())
		}
		ed.dryRun = len(c.req.PatchO.DryRun) > 0
		ed.make = whole(func(old *entry) (runtime.Object, error) {
			asked, err := c.patchedScale(old)
			if err != nil {
				return nil, err
			}
			return c.scaled(old, asked)
		})
	}
	r := c.modify(ed)
	if r.Err == nil {
		r.Object = c.k.scaleOf(r.Object)
	}
	return r
}

func (c *call) patchedScale(old *entry) (*autoscalingv1.Scale, error) {
	if c.req.PatchType == types.ApplyPatchType {
		return c.appliedScale(old)
	}
	inner := &call{s: c.s, req: c.req, k: Scales, now: c.now}
	obj, err := inner.patchWhole(c.k.scaleOf(old.obj))
	c.warnings = append(c.warnings, inner.warnings...)
	if err != nil {
		return nil, err
	}
	asked := obj.(*autoscalingv1.Scale)
	if err := c.matchNamespace(asked); err != nil {
		return nil, err
	}
	return asked, c.matchName(asked)
}

// scaled returns the stored object with the replicas of a scale.
func (c *call) scaled(old *entry, asked *autoscalingv1.Scale) (runtime.Object, error) {
	if c.k.custom == nil { // the schema of a definition judges its objects
		if errs := validation.Scale(asked, c.k.Namespaced); len(errs) > 0 {
			return nil, apierrors.NewInvalid(Scales.GVK.GroupKind(), asked.Name, errs)
		}
	} else if asked.Spec.Replicas == noReplicas {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty",
			c.k.custom.Version.Subresources.Scale.SpecReplicasPath))
	}
	if asked.UID != "" {
		if err := c.conditionMeta(old, &asked.UID, nil); err != nil {
			return nil, err
		}
	}
	obj := c.k.row.Shallow(old.obj)
	c.k.row.Scale.Write(obj, asked.Spec.Replicas)
	m := metadata.Of(obj)
	if asked.ResourceVersion != "" {
		m.SetResourceVersion(asked.ResourceVersion)
	}
	if c.req.PatchType != types.ApplyPatchType && !c.s.manages(old.meta) {
		return obj, nil
	}
	if c.req.PatchType != types.ApplyPatchType {
		if err := c.manageScale(old, asked); err != nil {
			return nil, err
		}
	}
	m.SetManagedFields(asked.ManagedFields)
	c.keepTimes(m, old.meta.GetManagedFields())
	return obj, nil
}

// noReplicas stands for missing replicas while a scale is changed.
const noReplicas = math.MinInt32

// manageScale records who changed the replicas: first in the scale's managers, which then become the object's.
func (c *call) manageScale(old *entry, asked *autoscalingv1.Scale) error {
	handler, live, err := c.scaleHandler(old)
	if err != nil {
		return err
	}
	manager := c.req.PatchO.FieldManager
	if c.req.Verb == Update {
		manager = c.req.Update.FieldManager
	}
	asked.TypeMeta, asked.ManagedFields = live.TypeMeta, nil
	Scales.manager("scale").UpdateNoErrors(live, asked, fieldmanager.Name(manager, c.req.UserAgent))
	asked.ManagedFields, err = handler.ToParent(asked.ManagedFields)
	return err
}

func (c *call) getScale() Response {
	e := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	if c.k.stored != nil {
		var err error
		if e, err = c.k.entry(e); err != nil {
			return refuse(err)
		}
	}
	if c.k.row.Scale.Absent != nil {
		if err := c.k.row.Scale.Absent(e.obj); err != nil {
			return refuse(err)
		}
	}
	return Response{Object: c.k.scaleOf(e.obj), Code: http.StatusOK}
}

func replicasPath(s *registry.Scaling) fieldpath.Path {
	if s.Path == nil {
		return fieldpath.MakePathOrDie("spec", "replicas")
	}
	var path fieldpath.Path
	for i := range s.Path {
		path = append(path, fieldpath.PathElement{FieldName: &s.Path[i]})
	}
	return path
}

// appliedScale applies to the scale of an object. The object's managers of replicas are those of the scale.
func (c *call) appliedScale(old *entry) (*autoscalingv1.Scale, error) {
	handler, live, err := c.scaleHandler(old)
	if err != nil {
		return nil, err
	}
	obj, err := c.merge(Scales, "scale", live)
	if err != nil {
		return nil, err
	}
	asked := obj.(*autoscalingv1.Scale)
	if asked.ManagedFields, err = handler.ToParent(asked.ManagedFields); err != nil {
		return nil, err
	}
	if err := c.matchNamespace(asked); err != nil {
		return nil, err
	}
	return asked, c.matchName(asked)
}

// scaleHandler returns the translator between managers of an object and of its scale, with the current scale.
func (c *call) scaleHandler(old *entry) (*managedfields.ScaleHandler, *autoscalingv1.Scale, error) {
	gv := c.k.GVK.GroupVersion()
	paths := managedfields.ResourcePathMappings{gv.String(): replicasPath(c.k.row.Scale)}
	if c.k.custom != nil {
		c.k.custom.ReplicasPaths(paths)
	}
	handler := managedfields.NewScaleHandler(old.meta.GetManagedFields(), gv, paths)
	entries, err := handler.ToSubresource()
	live := c.k.scaleOf(old.obj)
	if absent := c.k.row.Scale.Absent; absent != nil && absent(old.obj) != nil {
		live.Spec.Replicas = noReplicas
	}
	live.ManagedFields = entries
	return handler, live, err
}
