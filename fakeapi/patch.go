package fakeapi

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

func (c *call) patch(w *registry.Update) Response {
	if o := &c.req.PatchO; len(o.DryRun) > 0 || o.FieldManager != "" || o.FieldValidation != "" || o.Force != nil ||
		c.req.PatchType == types.ApplyPatchType {
		if errs := metav1validation.ValidatePatchOptions(o, c.req.PatchType); len(errs) > 0 {
			return refuse(errOptions("PatchOptions", errs))
		}
	}
	ed := &edit{way: w, dryRun: len(c.req.PatchO.DryRun) > 0}
	if c.k.custom != nil && !slices.Contains(customPatches, string(c.req.PatchType)) {
		return refuse(errCustomPatch())
	}
	switch c.req.PatchType {
	case types.ApplyPatchType:
		return c.apply(ed)
	case types.StrategicMergePatchType, types.MergePatchType, types.JSONPatchType:
	default:
		return refuse(apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", c.k.groupResource(),
			c.req.Name, "", 0, true))
	}
	ed.make = c.patched
	return c.modify(ed)
}

func (c *call) patched(old *entry) (obj runtime.Object, onlyMeta bool, err error) {
	obj = c.patchMeta(old)
	onlyMeta = obj != nil
	if obj == nil {
		obj = c.patchReplicas(old)
	}
	if obj == nil {
		if obj, err = c.patchWhole(old.obj); err != nil {
			return nil, false, err
		}
	}
	if c.s.manages(old.meta) {
		obj = c.manage(old.obj, obj, c.req.PatchO.FieldManager)
	}
	m := metadata.Of(obj)
	if !c.s.manages(old.meta) {
		m.SetManagedFields(nil)
	}
	if err := c.matchNamespace(m); err != nil {
		return nil, false, err
	}
	return obj, onlyMeta, c.matchName(m)
}
