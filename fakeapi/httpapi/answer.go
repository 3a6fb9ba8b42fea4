package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// answer is what one HTTP request is answered with: an object, or a list, or
// text, or raw JSON, or a watch.
type answer struct {
	code        int
	warnings    []string
	object      runtime.Object
	list        *fakeapi.Response // with kind: a list
	kind        *fakeapi.Kind
	text        string
	raw         []byte // JSON
	binary      []byte // of contentType
	contentType string // when it is not the format's
	format      media.Format
	watch       *watching // the answer goes on for as long as the client listens
	retryAfter  string    // the header, in seconds
	lost        error     // there is no answer: what the client's transport fails with
}

// watching is a watch that a request has opened.
type watching struct {
	gated     *fakeapi.Request // behind a gate: what is to be watched; nothing else is known yet
	log       *fakeapi.Watch   // nil: nothing can happen but
	first     []watch.Event    // these
	request   *fakeapi.Request // that opened it; nil where nothing can happen
	bookmarks bool             // the client asked for them
	timeout   time.Duration    // 0 is the server's default
}

// maxTimeout bounds what a client may ask for, in seconds.
const maxTimeout = 1 << 30

// setTimeout takes the timeout that a client asks for, in seconds.
func (w *watching) setTimeout(seconds int64) {
	w.timeout = time.Duration(min(seconds, maxTimeout)) * time.Second
}

// fail answers with an error. What is no API status is a 500 with its text.
func fail(f media.Format, err error) *answer {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		status = &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Reason: metav1.StatusReasonUnknown, Message: err.Error(),
		}}
	}
	s := status.ErrStatus
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &answer{code: int(s.Code), object: &s, format: f.Plain()}
}

// failJSON answers with an error where no other form can be agreed on.
func failJSON(err error) *answer { return fail(media.Format{Type: media.JSON}, err) }

// document is an answer that is JSON of something else than an API object.
func document(f media.Format, v any) *answer {
	text, err := json.Marshal(v)
	if err != nil {
		panic("httpapi: a document of our own does not encode: " + err.Error())
	}
	if f.Type != media.YAML {
		f.Type = media.JSON
	}
	return &answer{code: http.StatusOK, raw: text, format: f.Plain()}
}

func notFoundText() *answer {
	return &answer{code: http.StatusNotFound, text: "404 page not found\n"}
}
