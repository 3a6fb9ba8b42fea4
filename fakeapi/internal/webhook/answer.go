package webhook

import (
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Failure is that a webhook could not be asked, or did not answer as it has to: what its
// failure policy is about.
type Failure struct {
	Webhook string
	Reason  error
}

// Error says which webhook, and why.
func (f *Failure) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", f.Webhook, f.Reason)
}

// Verify refuses an answer that cannot be believed.
func Verify(uid types.UID, mutating bool, r *admissionv1.AdmissionReview) error {
	want, answer := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"), r.Response
	switch {
	case answer == nil:
		return errors.New("webhook response was absent")
	case answer.UID != uid:
		return fmt.Errorf("expected response.uid=%q, got %q", uid, answer.UID)
	case r.GroupVersionKind() != want:
		return fmt.Errorf("expected webhook response of %v, got %v", want, r.GroupVersionKind())
	case !mutating && len(answer.Patch) > 0:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && answer.PatchType != nil:
		return errors.New("validating webhook may not return response.patchType")
	case len(answer.Patch) > 0 && answer.PatchType == nil:
		return errors.New("webhook returned response.patch but not response.patchType")
	case len(answer.Patch) == 0 && answer.PatchType != nil:
		return errors.New("webhook returned response.patchType but not response.patch")
	case answer.PatchType != nil && *answer.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *answer.PatchType)
	}
	return nil
}

// Denial is the status of a request that a webhook does not allow.
func Denial(name string, result *metav1.Status) *apierrors.StatusError {
	status := metav1.Status{Status: metav1.StatusFailure}
	if result != nil {
		status = *result
	}
	switch {
	case status.Code < http.StatusBadRequest:
		status.Code = http.StatusBadRequest
	case status.Code > 999: // no answer can have it: the real server's panics
		status.Code = http.StatusInternalServerError
	}
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	by := fmt.Sprintf("admission webhook %q denied the request", name)
	switch {
	case status.Message != "":
		status.Message = by + ": " + status.Message
	case status.Reason != "":
		status.Message = by + ": " + string(status.Reason)
	default:
		status.Message = by + " without explanation"
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// NoDryRun is the status of a dry run that a webhook's side effects forbid.
func NoDryRun(name string) *apierrors.StatusError {
	return apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", name))
}
