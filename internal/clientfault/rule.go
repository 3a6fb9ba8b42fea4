package clientfault

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// The verbs of fault lines.
const (
	hold    = "hold"
	release = "release"
	relist  = "relist"
	fail    = "fail"
	delay   = "delay"
)

// Words for requests, in addition to the verbs of the API.
const (
	watches = "watch"
	write   = "write" // any request that changes an object
)

// rule is a requested fault.
type rule struct {
	id   int
	verb string // hold, relist, fail or delay
	who  string // a pattern of client names

	asks            string           // fail, delay: the verb of matching requests
	kind            schema.GroupKind // empty for all kinds
	resource        string           // the resource of the kind; "*" for all
	namespace, name string           // patterns; "" for any
	nth             int              // fail, delay: which matching request to strike, counted from 1; 0 means all
	with            *answer          // fail: the response
	by              time.Duration    // delay: the duration

	seen   int // the number of matching requests
	struck int // the number of requests or watches that the fault struck
}

// String formats the rule as a fault line.
func (r *rule) String() string {
	switch r.verb {
	case hold:
		return fmt.Sprintf("hold %s sees=%s", r.who, r.resource)
	case relist:
		return fmt.Sprintf("relist %s %s", r.who, r.resource)
	}
	object := r.resource
	if r.name != "" {
		object += "/" + r.name
	}
	if r.namespace != "" {
		object = r.namespace + "/" + object
	}
	line := fmt.Sprintf("%s %s %s %s nth=%d", r.verb, r.who, r.asks, object, r.nth)
	if r.verb == delay {
		return line + " by=" + r.by.String()
	}
	return line + " with=" + r.with.word
}

// spent reports whether the rule has struck and cannot strike again.
func (r *rule) spent() bool { return r.struck > 0 && (r.verb == relist || r.verb != hold && r.nth > 0) }

// deed contains what rules match: the client, the verb and the object of a request.
type deed struct {
	who             []string // the names under which the client is known
	verb            string
	kind            schema.GroupKind
	namespace, name string
}

func deedOf(req *fakeapi.Request, isWatch bool) *deed {
	d := &deed{verb: string(req.Verb), kind: req.Kind.GVK.GroupKind(), namespace: req.Namespace, name: req.Name}
	if isWatch {
		d.verb = watches
	}
	if agent, _, _ := strings.Cut(req.UserAgent, "/"); agent != "" {
		d.who = append(d.who, agent)
	}
	if req.User != "" {
		d.who = append(d.who, req.User)
	}
	if m, ok := req.Object.(metav1.Object); ok && d.name == "" {
		if d.name = m.GetName(); d.name == "" {
			d.name = m.GetGenerateName()
		}
	}
	return d
}

// String formats the request: "update pods default/web-1".
func (d *deed) String(resource string) string {
	text := d.verb + " " + resource
	if d.name == "" {
		return text
	}
	if d.namespace != "" {
		return text + " " + d.namespace + "/" + d.name
	}
	return text + " " + d.name
}

// about reports whether the rule matches the client and the kind of a request.
func (r *rule) about(d *deed) bool {
	return (r.kind.Empty() || r.kind == d.kind) && fitsAny(r.who, d.who)
}

func (r *rule) fits(d *deed, req *fakeapi.Request) bool {
	if !r.about(d) || r.namespace != "" && !matches(r.namespace, d.namespace) ||
		r.name != "" && !matches(r.name, d.name) {
		return false
	}
	if r.asks != d.verb && (r.asks != write || reads(d.verb)) {
		return false
	}
	return r.with == nil || r.with.can(req, d.verb)
}

func reads(verb string) bool {
	return verb == string(fakeapi.Get) || verb == string(fakeapi.List) || verb == watches
}

func fitsAny(pattern string, names []string) bool {
	for _, n := range names {
		if matches(pattern, n) {
			return true
		}
	}
	return pattern == "*"
}

// matches reports whether a text matches a pattern. In the pattern, * stands for any text, also the empty one.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// answer is the response to a request that a fault makes fail.
type answer struct {
	word    string
	code    int
	commits bool // the request is executed although the response is an error
	lost    bool // the connection is closed without a response
}

// answers lists the possible values of with=.
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

// can reports whether a server can give this response to a request. A conflict is possible only for writes, and for a
// deletion only if the request has a resource version. A watch cannot fail after its execution.
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

// status returns the error, with the text of a real server. The code stands for a conflict (409), too many requests
// (429), a slow etcd (500), a shutdown (503), or a timeout (504).
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
