package fakeapi

import (
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// apply is server-side apply.
func (c *call) apply(ed *edit) Response {
	ed.creates = c.req.Subresource == ""
	ed.make = func(old *entry) (runtime.Object, bool, error) {
		obj, err := c.applied(old)
		return obj, false, err
	}
	return c.modify(ed)
}

// applied merges the applied configuration into the stored object.
func (c *call) applied(old *entry) (runtime.Object, error) {
	live := c.k.row.Empty()
	if old != nil {
		live = old.obj.DeepCopyObject()
	}
	obj, err := c.merge(c.k, c.req.Subresource, live)
	if err != nil {
		return nil, err
	}
	m := metadata.Of(obj)
	if old != nil {
		c.keepTimes(m, old.meta.GetManagedFields())
	} else {
		c.keepTimes(m, nil)
	}
	if err := c.matchNamespace(m); err != nil {
		return nil, err
	}
	return obj, c.matchName(m)
}

// merge applies the request's configuration to an object of a kind, which it may change.
func (c *call) merge(k *Kind, subresource string, live runtime.Object) (runtime.Object, error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(c.req.Patch, &patch.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	force := c.req.PatchO.Force != nil && *c.req.PatchO.Force
	obj, err := k.manager(subresource).Apply(live, patch, c.req.PatchO.FieldManager, force)
	if err != nil {
		return nil, err
	}
	if c.strict() {
		if err := yaml.UnmarshalStrict(c.req.Patch, &map[string]any{}); err != nil {
			if c.req.PatchO.FieldValidation == metav1.FieldValidationStrict {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
			}
			c.warnStrict([]error{err})
		}
	}
	return obj, nil
}

// manages reports whether it is noted who changes what of a stored object.
func (s *Server) manages(m metav1.Object) bool {
	return s.opts.ManagedFields || len(m.GetManagedFields()) > 0
}

// manage notes in managedFields who changed what.
func (c *call) manage(live, obj runtime.Object, manager string) runtime.Object {
	if live == nil && !c.s.opts.ManagedFields || live != nil && !c.s.manages(metadata.Of(live)) {
		return obj
	}
	if live == nil {
		live = c.k.row.Empty()
	}
	obj = c.k.manager(c.req.Subresource).UpdateNoErrors(live, obj, fieldmanager.Name(manager, c.req.UserAgent))
	c.keepTimes(metadata.Of(obj), metadata.Of(live).GetManagedFields())
	return obj
}

// keepTimes gives entries of managedFields that did not change their old
// time, and the others the time of the request.
func (c *call) keepTimes(m metav1.Object, old []metav1.ManagedFieldsEntry) {
	entries := append([]metav1.ManagedFieldsEntry(nil), m.GetManagedFields()...)
	for i := range entries {
		now := metadata.Seconds(c.now)
		entries[i].Time = &now
		for j := range old {
			o := &old[j]
			if o.Manager == entries[i].Manager && o.Operation == entries[i].Operation &&
				o.APIVersion == entries[i].APIVersion &&
				o.Subresource == entries[i].Subresource && reflect.DeepEqual(o.FieldsV1, entries[i].FieldsV1) {
				entries[i].Time = o.Time
			}
		}
	}
	m.SetManagedFields(entries)
}

// appliedScale applies to the scale of an object. The managers of the object's
// replicas are those of the scale's.
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

// scaleHandler translates between the managers of an object and of its scale;
// it comes with the scale as it is.
func (c *call) scaleHandler(old *entry) (*managedfields.ScaleHandler, *autoscalingv1.Scale, error) {
	gv := c.k.GVK.GroupVersion()
	paths := managedfields.ResourcePathMappings{gv.String(): replicasPath(c.k.row.Scale)}
	handler := managedfields.NewScaleHandler(old.meta.GetManagedFields(), gv, paths)
	entries, err := handler.ToSubresource()
	live := c.k.scaleOf(old.obj)
	live.ManagedFields = entries
	return handler, live, err
}
