package host

import (
	"cmp"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

// FailedRequest makes requests of a process fail: every matching request, or only the nth.
type FailedRequest struct {
	Process string       // "" for every process
	Verb    fakeapi.Verb // "" for every verb
	Kind    string       // "" for every kind
	Nth     int          // only the nth matching request fails, counted from 1; 0 means every one
	Code    int          // 409, 429, 500 or 504
	Commits bool         // the request is executed, but the process receives the error Code
	seen    int
}

func (f *FailedRequest) matches(process string, req *fakeapi.Request) bool {
	return (f.Process == "" || f.Process == process) &&
		(f.Verb == "" || f.Verb == req.Verb) &&
		(f.Kind == "" || f.Kind == req.Kind.GVK.Kind)
}

// response returns the error that replaces the server's answer.
func (f *FailedRequest) response(req *fakeapi.Request) fakeapi.Response {
	gr := req.Kind.GVR().GroupResource()
	var err *apierrors.StatusError
	switch f.Code {
	case 409:
		err = apierrors.NewConflict(gr, nameIn(req), errors.New("the object has been modified; "+
			"please apply your changes to the latest version and try again"))
	case 429:
		err = apierrors.NewTooManyRequests("the server has received too many requests "+
			"and has asked us to try again later", 1)
	case 504:
		err = apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	default:
		err = apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	}
	return fakeapi.Response{Code: int(err.ErrStatus.Code), Err: err}
}

// nameIn returns the name of the object of a request. The path of a create contains none.
func nameIn(req *fakeapi.Request) string {
	if o, is := req.Object.(metav1.Object); is && req.Name == "" {
		return cmp.Or(o.GetName(), o.GetGenerateName())
	}
	return req.Name
}

// asker is a worker or a [Call] whose request waits to be executed.
type asker interface {
	request() *fakeapi.Request
	execute(f *FailedRequest)
}
