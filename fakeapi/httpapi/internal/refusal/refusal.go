// Package refusal has the errors that the wire itself answers with, in the real
// server's words: what is wrong with a request before the server has seen it.
package refusal

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NotFound is the answer where nothing is served.
func NotFound() error {
	return generic(http.StatusNotFound, metav1.StatusReasonNotFound,
		"the server could not find the requested resource")
}

// Unauthorized is the answer to credentials that are not in force.
func Unauthorized() error {
	return bare(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
}

// Method is the answer to a method that the path does not have.
func Method() error {
	return generic(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
}

// NotModelled names what the real server has and this one has not.
func NotModelled(what string) error {
	return generic(http.StatusNotImplemented, "NotImplemented", what+" is not modelled by this server")
}

// generic is a refusal before anything is known of the object: its details are empty.
func generic(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		Details: &metav1.StatusDetails{},
	}}
}

// bare is a refusal without details.
func bare(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}}
}
