package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

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
