package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/metapatch"
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

var customPatches = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyPatchType)}

func errCustomPatch() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
		Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " +
			strings.Join(customPatches, ", "),
	}}
}

func (c *call) patchCustom(old runtime.Object) (runtime.Object, error) {
	original, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	patched, found, err := c.applyJSON(original)
	if err != nil {
		return nil, err
	}
	obj := map[string]any{}
	twice, err := kjson.UnmarshalStrict(patched, &obj)
	if err != nil {
		return nil, c.strictness(err, nil, string(patched))
	}
	u := &unstructured.Unstructured{Object: obj}
	if u.GetKind() == "" {
		return nil, c.strictness(runtime.NewMissingKindErr(string(patched)), nil, string(patched))
	}
	unknown, err := c.k.Prune(u)
	if err != nil {
		return nil, c.strictness(err, nil, string(patched))
	}
	for _, path := range unknown {
		twice = append(twice, fmt.Errorf(`unknown field "%s"`, path))
	}
	if c.strict() {
		err = nil
		if len(twice) > 0 {
			err = runtime.NewStrictDecodingError(twice)
		}
		if err := c.strictness(err, found, string(patched)); err != nil {
			return nil, err
		}
	}
	c.k.custom.SetDefaults(u)
	return u, nil
}

// patchMeta applies a patch of metadata alone without JSON, and shares the rest with the stored object. It returns
// nil for other patches, which [call.patchWhole] applies.
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

// patchReplicas applies a merge patch of spec.replicas alone without JSON. It returns nil for other patches, which
// [call.patchWhole] applies.
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
