package fakeapi

import (
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/metapatch"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

func (c *call) patch(way *registry.Update) Response {
	if o := &c.req.PatchO; len(o.DryRun) > 0 || o.FieldManager != "" || o.FieldValidation != "" || o.Force != nil ||
		c.req.PatchType == types.ApplyPatchType {
		if errs := metav1validation.ValidatePatchOptions(o, c.req.PatchType); len(errs) > 0 {
			return refuse(errOptions("PatchOptions", errs))
		}
	}
	ed := edit{way: way, make: (*call).patched, dryRun: len(c.req.PatchO.DryRun) > 0}
	if c.k.custom != nil && !slices.Contains(customPatches, string(c.req.PatchType)) {
		return refuse(errCustomPatch())
	}
	switch c.req.PatchType {
	case types.ApplyPatchType:
		ed.make, ed.creates = (*call).applied, c.req.Subresource == ""
	case types.StrategicMergePatchType, types.MergePatchType, types.JSONPatchType:
	default:
		return refuse(apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", c.k.groupResource(),
			c.req.Name, "", 0, true))
	}
	return c.modify(ed)
}

// patched makes the new state by applying the patch to the stored object.
func (c *call) patched(w *draft) (err error) {
	old, obj := w.old, c.patchMeta(w.old)
	w.onlyMeta = obj != nil
	if obj == nil {
		obj = c.patchReplicas(old)
	}
	if obj == nil {
		if obj, err = c.patchWhole(old.obj); err != nil {
			return err
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
		return err
	}
	w.obj = obj
	return c.matchName(m)
}

// patchMeta applies a patch of only metadata without encoding the object as JSON. For any other patch it returns nil.
func (c *call) patchMeta(old *entry) runtime.Object {
	strategic := c.req.PatchType == types.StrategicMergePatchType
	if !strategic && c.req.PatchType != types.MergePatchType || c.s.manages(old.meta) {
		return nil
	}
	if _, ok := old.obj.(metav1.ObjectMetaAccessor); !ok {
		return nil
	}
	p, ok := metapatch.Parse(c.req.Patch, strategic)
	if !ok {
		return nil
	}
	obj := c.k.row.Shallow(old.obj)
	m := metadata.Of(obj)
	if !p.Apply(m, strategic) || c.k.row.Judged != nil && c.k.row.Judged(obj) != nil {
		return nil
	}
	return obj
}

// patchReplicas applies a patch of only spec.replicas without encoding the object. For any other patch it returns nil.
func (c *call) patchReplicas(old *entry) runtime.Object {
	merges := c.req.PatchType == types.MergePatchType || c.req.PatchType == types.StrategicMergePatchType
	if !merges || c.k.row.Scale == nil || c.req.Subresource != "" || c.s.manages(old.meta) {
		return nil
	}
	if _, ok := old.obj.(metav1.ObjectMetaAccessor); !ok {
		return nil
	}
	n, ok := metapatch.ParseReplicas(c.req.Patch)
	if !ok {
		return nil
	}
	obj := c.k.row.Shallow(old.obj)
	c.k.row.Scale.Write(obj, n)
	return obj
}

// applied makes the new state of a server-side apply: it merges the applied configuration into the stored object.
func (c *call) applied(w *draft) error {
	old, live := w.old, c.k.row.Empty()
	if old != nil {
		live = old.obj.DeepCopyObject()
	}
	obj, err := c.merge(c.k, c.req.Subresource, live)
	if err != nil {
		return err
	}
	m := metadata.Of(obj)
	if old != nil {
		c.keepTimes(m, old.meta.GetManagedFields())
	} else {
		c.keepTimes(m, nil)
	}
	if err := c.matchNamespace(m); err != nil {
		return err
	}
	w.obj = obj
	return c.matchName(m)
}

func (c *call) merge(k *Kind, subresource string, live runtime.Object) (runtime.Object, error) {
	patch := &unstructured.Unstructured{Object: decodePlain(c.req.Patch)}
	plain := patch.Object != nil
	if !plain {
		patch.Object = map[string]any{}
		if err := yaml.Unmarshal(c.req.Patch, &patch.Object); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
		}
	}
	force := c.req.PatchO.Force != nil && *c.req.PatchO.Force
	obj, err := c.s.manager(k, subresource).Apply(live, patch, c.req.PatchO.FieldManager, force)
	if err != nil {
		return nil, err
	}
	if c.strict() && !plain {
		if err := yaml.UnmarshalStrict(c.req.Patch, &map[string]any{}); err != nil {
			if c.req.PatchO.FieldValidation == metav1.FieldValidationStrict {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
			}
			c.warnStrict([]error{err})
		}
	}
	return obj, nil
}

// decodePlain decodes an applied configuration in JSON, which most clients send, ten times as fast as the YAML decoder.
// It returns nil for text that is not JSON or that YAML could decode differently. Such text contains control
// characters, backslashes, non-ASCII characters, duplicate keys, very long keys, or numbers that are not integers.
func decodePlain(text []byte) map[string]any {
	for _, c := range text {
		if (c < ' ' && c != '\n') || c > '~' || c == '\\' {
			return nil
		}
	}
	var tree map[string]any
	if strict, err := json.UnmarshalStrict(text, &tree); err != nil || len(strict) > 0 || !plainYAML(tree) {
		return nil
	}
	return tree
}

func plainYAML(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		//detcheck:ordered one entry decides, whichever is seen first
		for k, e := range v {
			if len(k) > 1000 || !plainYAML(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !plainYAML(e) {
				return false
			}
		}
	case float64:
		return false
	}
	return true
}
