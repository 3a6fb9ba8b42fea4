package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const modified = "the object has been modified; please apply your changes to the latest version and try again"

// StatusOf returns an error as an API status. Any other error becomes a status with code 500 and the error's text, as
// in the real server.
func StatusOf(err error) *apierrors.StatusError {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		status = &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Reason: metav1.StatusReasonUnknown, Message: err.Error(),
		}}
	}
	return status
}

func refuse(err error) Response {
	status := StatusOf(err)
	return Response{Err: status, Code: int(status.ErrStatus.Code)}
}

// mostTries is the maximum number of attempts to write an object that changes during each webhook call. The real server
// stops after 34 seconds.
const mostTries = 10

// errRaced makes the write begin again, because its object has changed during a webhook call.
var errRaced = errors.New("the object has changed during a webhook call")

func errOutOfTime() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded", 0)
}

func (s *Server) errNotServed(req *Request) error {
	if req.Kind == nil {
		return apierrors.NewBadRequest(s.kindless())
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the kind %s is not served", req.Kind.GVK.Kind))
}

// kindless explains why a request has no kind. The usual reason is that KindNamed has returned nil.
func (s *Server) kindless() string {
	if s.missed == "" {
		return "the request names no kind: its Kind is nil"
	}
	text := fmt.Sprintf("the request names no kind: its Kind is nil, and the server has no kind %s", s.missed)
	if n := s.NearestKind(s.missed); n != "" {
		text += "; did you mean " + n + "?"
	}
	return text
}

func errMethod(req *Request) error {
	return apierrors.NewMethodNotSupported(req.Kind.groupResource(), string(req.Verb))
}

func (c *call) errNotFound(name string) error {
	return apierrors.NewNotFound(c.req.Kind.groupResource(), name)
}

func errNoSubresource() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, true)
}

func (c *call) errConflict(name, why string) error {
	return apierrors.NewConflict(c.req.Kind.groupResource(), name, errors.New(why))
}

func (c *call) errInvalid(name string, errs field.ErrorList) error {
	kind := c.k.GVK.GroupKind()
	if v := c.k.row.View; v != nil {
		kind = v.Stored.GVK.GroupKind() // as in the real server, the error names the kind in the storage version
	}
	return apierrors.NewInvalid(kind, name, sorted(errs))
}

func errOptions(kind string, errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// sorted sorts the errors about keys and values of labels or annotations. Upstream reports them in random order.
func sorted(errs field.ErrorList) field.ErrorList {
	label := func(e *field.Error) bool { return strings.HasPrefix(e.Origin, "format=k8s-label") }
	for i := 1; i < len(errs); i++ {
		for j := i; j > 0 && label(errs[j]) && label(errs[j-1]) && errs[j].Field == errs[j-1].Field &&
			about(errs[j]) < about(errs[j-1]); j-- {
			errs[j], errs[j-1] = errs[j-1], errs[j]
		}
	}
	return errs
}

func about(err *field.Error) string { return fmt.Sprint(err.Origin, err.BadValue) }

// errRedefined returns the error of a write if the CRD of its object changed during a webhook call.
func (c *call) errRedefined() error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("the definition of %s has changed while a webhook was called; "+
		"please try again", c.k.groupResource()))
}

// errUnlisted returns the error of a list or watch if an object cannot be converted. The real server then cannot start
// the watch cache of this version.
func errUnlisted(k *Kind, err error) error {
	text := fmt.Sprintf("storage is (re)initializing: failed to list %v: %v", k.GVK, err)
	return apierrors.NewTooManyRequests(text, 1)
}
