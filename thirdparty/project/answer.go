package project

import (
	"encoding/json"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Answer returns the response of an admission webhook: a refusal if err is not nil, otherwise a patch that changes the
// received object to the parameter now.
func Answer(r *admissionv1.AdmissionRequest, now runtime.Object, err error) *admissionv1.AdmissionResponse {
	var is, patch []byte
	var steps []jsonpatch.Operation
	if err == nil {
		is, err = json.Marshal(now)
	}
	if err == nil {
		steps, err = jsonpatch.CreatePatch(r.Object.Raw, is)
	}
	if err == nil {
		patch, err = json.Marshal(steps)
	}
	if err != nil {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: err.Error()}}
	}
	kind := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: &kind}
}
