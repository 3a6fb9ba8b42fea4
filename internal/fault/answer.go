package fault

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/fakeapi"
)

// answer is the answer to a request that a fault makes fail.
type answer struct {
	word    string
	code    int
	commits bool // the request is executed anyway
	lost    bool // the connection is closed without an answer
}

// answers are the values of with=.
var answers = []*answer{
	{word: "409", code: http.StatusConflict},
	{word: "429", code: http.StatusTooManyRequests},
	{word: "500", code: http.StatusInternalServerError},
	{word: "503", code: http.StatusServiceUnavailable},
	{word: "504", code: http.StatusGatewayTimeout},
	{word: "timeout", code: http.StatusGatewayTimeout, commits: true},
	{word: "lost", code: http.StatusGatewayTimeout, commits: true, lost: true},
}

func answerWords() (words []string) {
	for _, a := range answers {
		words = append(words, a.word)
	}
	return words
}

// can reports whether a server can give this answer to a request. Only writes have conflicts, and deletions only if
// they name a version.
func (a *answer) can(req *fakeapi.Request, verb string) bool {
	switch {
	case verb == watches:
		return a.code != http.StatusConflict && !a.commits
	case a.code != http.StatusConflict:
		return true
	case req.Verb == fakeapi.Delete || req.Verb == fakeapi.DeleteCollection:
		p := req.Delete.Preconditions
		return p != nil && p.ResourceVersion != nil
	}
	return !reads(verb)
}

// status returns the error in the words of the real server: its errors for conflicts, priority and fairness, a slow
// store, a shutdown, and a timeout.
func (a *answer) status(req *fakeapi.Request) *apierrors.StatusError {
	switch a.code {
	case http.StatusConflict:
		return apierrors.NewConflict(req.Kind.GVR().GroupResource(), req.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("the server has received too many requests and has asked us to try "+
			"again later", 1)
	case http.StatusServiceUnavailable:
		return apierrors.NewServiceUnavailable("apiserver is shutting down")
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	}
	return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
}
