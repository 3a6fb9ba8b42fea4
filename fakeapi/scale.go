package fakeapi

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

func (c *call) rescale() Response {
	ed := edit{way: &c.k.row.Main}
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
		ed.make, ed.body, ed.dryRun = (*call).scaled, asked, len(c.req.Update.DryRun) > 0
	case Patch:
		if c.k.custom != nil && !slices.Contains(customPatches, string(c.req.PatchType)) {
			return refuse(errCustomPatch())
		}
		ed.make, ed.dryRun = (*call).scaled, len(c.req.PatchO.DryRun) > 0
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
	inner := &call{s: c.s, req: c.req, k: scales, now: c.now}
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

// scaled sets the replicas of the stored object to the replicas of the Scale, from the body or from a patch.
func (c *call) scaled(w *draft) (err error) {
	old := w.old
	asked, ok := w.body.(*autoscalingv1.Scale)
	if !ok {
		if asked, err = c.patchedScale(old); err != nil {
			return err
		}
	}
	if c.k.custom == nil { // the CRD's schema validates custom objects
		if errs := validation.Scale(asked, c.k.Namespaced); len(errs) > 0 {
			return apierrors.NewInvalid(scales.GVK.GroupKind(), asked.Name, errs)
		}
	} else if asked.Spec.Replicas == noReplicas {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty",
			c.k.custom.Version.Subresources.Scale.SpecReplicasPath))
	}
	if asked.UID != "" {
		if err := c.conditionMeta(old, &asked.UID, nil); err != nil {
			return err
		}
	}
	obj := c.k.row.Shallow(old.obj)
	c.k.row.Scale.Write(obj, asked.Spec.Replicas)
	m := metadata.Of(obj)
	w.obj = obj
	if asked.ResourceVersion != "" {
		m.SetResourceVersion(asked.ResourceVersion)
	}
	if c.req.PatchType != types.ApplyPatchType && !c.s.manages(old.meta) {
		return nil
	}
	if c.req.PatchType != types.ApplyPatchType {
		if err := c.manageScale(old, asked); err != nil {
			return err
		}
	}
	m.SetManagedFields(asked.ManagedFields)
	c.keepTimes(m, old.meta.GetManagedFields())
	return nil
}

const noReplicas = math.MinInt32

// manageScale updates the managedFields of the Scale, and converts them to managedFields of the scaled object.
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
	c.s.manager(scales, "scale").UpdateNoErrors(live, asked, fieldmanager.Name(manager, c.req.UserAgent))
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
		if e, err = c.s.converted(c.k, e); err != nil {
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

// appliedScale merges a configuration into the Scale of an object. The result has the managedFields of the object.
func (c *call) appliedScale(old *entry) (*autoscalingv1.Scale, error) {
	handler, live, err := c.scaleHandler(old)
	if err != nil {
		return nil, err
	}
	obj, err := c.merge(scales, "scale", live)
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

// scaleHandler returns the current Scale, and the converter from its managedFields to the managedFields of the object.
func (c *call) scaleHandler(old *entry) (*managedfields.ScaleHandler, *autoscalingv1.Scale, error) {
	gv := c.k.GVK.GroupVersion()
	paths := managedfields.ResourcePathMappings{gv.String(): fieldpath.MakePathOrDie("spec", "replicas")}
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
