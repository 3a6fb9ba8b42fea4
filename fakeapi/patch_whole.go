package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

const maxOperations = 10000

func (c *call) patchWhole(old runtime.Object) (runtime.Object, error) {
	if c.k.custom != nil {
		return c.patchCustom(old)
	}
	obj := c.k.New()
	var err error
	if c.req.PatchType == types.StrategicMergePatchType {
		if err = c.patchStrategic(old, obj); err == nil {
			err = c.decoded(obj)
		}
	} else {
		err = c.patchJSON(old, obj)
	}
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(c.k.GVK)
	return obj, nil
}

func (c *call) patchStrategic(old, obj runtime.Object) error {
	original, err := runtime.DefaultUnstructuredConverter.ToUnstructured(old)
	if err != nil {
		return err
	}
	patch := map[string]any{}
	var found []error
	if c.strict() {
		if found, err = kjson.UnmarshalStrict(c.req.Patch, &patch); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	} else if err := kjson.UnmarshalCaseSensitivePreserveInts(c.req.Patch, &patch); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(original, patch, obj)
	if err != nil {
		return strategicError(err)
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, obj, c.strict())
	if err == nil && len(found) == 0 {
		return nil
	}
	return c.strictness(err, found, fmt.Sprintf("%+v", patch))
}

// strategicError converts the known errors of a strategic merge to API errors. It returns other errors unchanged.
func strategicError(err error) error {
	switch err {
	case mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList,
		mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat:
		return apierrors.NewBadRequest(err.Error())
	case mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys:
		return errUnprocessable(err)
	}
	return err
}

func errUnprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "",
		err.Error(), 0, false)
}

func (c *call) patchJSON(old, obj runtime.Object) error {
	original, err := json.Marshal(old)
	if err != nil {
		return err
	}
	patched, found, err := c.applyJSON(original)
	if err != nil {
		return err
	}
	strictErrs, err := kjson.UnmarshalStrict(patched, obj)
	if err == nil {
		err = c.decoded(obj)
	}
	if err != nil {
		return c.strictness(err, nil, string(patched))
	}
	if !c.strict() {
		return nil
	}
	if len(strictErrs) > 0 {
		err = runtime.NewStrictDecodingError(strictErrs)
	}
	return c.strictness(err, found, string(patched))
}

// jsonPatchOp is an operation of a JSON patch. Decoding errors contain this name, as those of the real server do.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func operationsError(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	expected := ""
	switch wrong.Type {
	case reflect.TypeFor[[]jsonPatchOp]():
		expected = "[]handlers.jsonPatchOp"
	case reflect.TypeFor[jsonPatchOp]():
		expected = "handlers.jsonPatchOp"
	default:
		return err.Error()
	}
	return "json: cannot unmarshal " + wrong.Value + " into Go value of type " + expected
}

func (c *call) applyJSON(original []byte) (patched []byte, found []error, err error) {
	if c.req.PatchType == types.MergePatchType {
		if c.strict() {
			v := map[string]any{}
			if found, err = kjson.UnmarshalStrict(c.req.Patch, &v); err != nil {
				return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
			}
		}
		patched, err = jsonpatch.MergePatch(original, c.req.Patch)
		if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
			return nil, nil, apierrors.NewBadRequest(err.Error())
		}
		return patched, found, err
	}
	if c.strict() {
		var ops []jsonPatchOp
		if found, err = kjson.UnmarshalStrict(c.req.Patch, &ops); err != nil {
			return nil, nil, apierrors.NewBadRequest("error decoding patch: " + operationsError(err))
		}
		for i, e := range found {
			found[i] = fmt.Errorf("json patch %v", e)
		}
	}
	patch, err := jsonpatch.DecodePatch(c.req.Patch)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(patch) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(patch)))
	}
	if patched, err = patch.Apply(original); err != nil {
		return nil, nil, errUnprocessable(err)
	}
	return patched, found, nil
}

func (c *call) strict() bool {
	v := c.req.PatchO.FieldValidation
	return v == metav1.FieldValidationWarn || v == metav1.FieldValidationStrict || v == ""
}

// strictness returns decoding errors, or adds them to the warnings, as the request's field validation requires.
func (c *call) strictness(err error, found []error, patch string) error {
	text := ""
	if err != nil {
		strictErr, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			text = err.Error()
		} else {
			found = append(found, strictErr.Errors()...)
		}
	}
	if text == "" && len(found) > 0 {
		if c.req.PatchO.FieldValidation != metav1.FieldValidationStrict {
			c.warnStrict(found)
			return nil
		}
		text = runtime.NewStrictDecodingError(found).Error()
	}
	if text == "" {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{}, "",
		field.ErrorList{field.Invalid(field.NewPath("patch"), patch, text)})
}

// warnStrict adds decoding errors to the warnings. An error of the YAML decoder has a line for each warning, as in
// parseYAMLWarnings (apiserver/pkg/endpoints/handlers/rest.go).
func (c *call) warnStrict(found []error) {
	for _, err := range found {
		text := strings.TrimPrefix(err.Error(), "strict decoding error: ")
		lines, isYAML := strings.CutPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "),
			"yaml: unmarshal errors:\n")
		if !isYAML {
			c.warnings = append(c.warnings, text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			c.warn(strings.TrimSpace(line))
		}
	}
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
