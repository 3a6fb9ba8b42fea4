package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/host"
)

// serveLine is one line of serve --json: where the server is, once it can be
// reached, and then what happens.
type serveLine struct {
	Event       string   `json:"event"` // serving, violates, fails, stored, unattended, unjudged, fault, unstruck or request
	URL         string   `json:"url,omitempty"`
	Page        string   `json:"page,omitempty"` // for the browser, with --ui
	Kubeconfig  string   `json:"kubeconfig,omitempty"`
	Controllers []string `json:"controllers,omitempty"` // that run
	Unattended  []string `json:"unattended,omitempty"`  // kinds whose controllers do not, with those
	ID          string   `json:"id,omitempty"`          // of the law, by clause
	Law         string   `json:"law,omitempty"`
	By          []string `json:"by,omitempty"`     // the controllers that broke it
	Object      string   `json:"object,omitempty"` // what they wrote
	Text        string   `json:"text,omitempty"`
	Fault       string   `json:"fault,omitempty"` // the line that asked for it

	Verb    string  `json:"verb,omitempty"`
	Path    string  `json:"path,omitempty"`
	User    string  `json:"user,omitempty"`
	Agent   string  `json:"userAgent,omitempty"`
	Status  int     `json:"status,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// teller writes what a server has to say. Several goroutines may tell it things.
type teller struct {
	a    *app
	mu   sync.Mutex
	told map[string]bool // resources that nobody acts on, and programs that are not judged, as "agent/"
}

// say writes a line: of text on standard error, or of JSON on standard output.
func (t *teller) say(l serveLine, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.a.json {
		_ = t.a.line(l)
		return
	}
	fmt.Fprintln(t.a.err, text)
}

// inRealTime is what whoever comes from simulations has to know of a server.
const inRealTime = "in real time: what happens here is not deterministic, and cannot be replayed"

// announce says where the server is, and what it does.
func announce(a *app, l serveLine) error {
	l.Event = "serving"
	if a.json {
		return a.line(l)
	}
	a.printf("serving on %s\n", l.URL)
	if l.Page != "" {
		a.printf("page: %s\n", l.Page)
	}
	if l.Kubeconfig != "" {
		a.printf("kubeconfig: %s\n", l.Kubeconfig)
	}
	a.printf("%s\n", inRealTime)
	running := "none"
	if len(l.Controllers) > 0 {
		running = strings.Join(l.Controllers, ", ")
	}
	a.printf("controllers: %s\n", running)
	if len(l.Unattended) > 0 {
		a.printf("no controller runs for: %s\n", strings.Join(l.Unattended, ", "))
	}
	return nil
}

// verdict tells of a law that is broken while the server runs.
func (t *teller) verdict(v verdict) {
	text := render.WithoutUIDs(v.breach.Text)
	l := serveLine{Event: "violates", ID: v.breach.Law.ID, Law: v.breach.Law.Name, By: v.by, Object: v.object,
		Text: text}
	head := "VIOLATES " + l.Law
	if len(v.by) > 0 {
		head += " by " + strings.Join(v.by, " and ")
	}
	if v.object != "" {
		text = v.object + ": " + text
	}
	t.say(l, head+": "+text)
}

// created tells of an object that was created and does not do here what it does in a
// cluster, and of the first of a kind whose controller does not run. It returns what the
// creator is to be warned of.
func (t *teller) created(u unattended, k *fakeapi.Kind, namespace, name string) string {
	warning := u.warning(k)
	if namespace != "" {
		name = namespace + "/" + name
	}
	switch {
	case warning == "":
	case k.Inert() != "":
		text := k.Singular + " " + name + " is stored: " + k.Inert()
		t.say(serveLine{Event: "stored", Text: text}, text)
	case !t.told[k.Resource]:
		t.told[k.Resource] = true
		text := k.Singular + " " + name + " is created, and " + warning
		t.say(serveLine{Event: "unattended", Text: text}, text)
	}
	return warning
}

// hands begin the user agents of programs by which people work, and of Go programs that say nothing of themselves.
var hands = []string{"kubectl", "oc", "helm", "Helm", "k9s", "Mozilla", "curl", "Wget", "Go-http-client"}

// unjudged tells once of each program that creates an object with an owner, and is judged as no controller.
func (t *teller) unjudged(played map[string]host.Controller, req *fakeapi.Request, object metav1.Object) {
	name, _, _ := strings.Cut(req.UserAgent, "/")
	_, judged := played[name]
	if name == "" || judged || slices.Contains(hands, name) || t.told[name+"/"] || len(object.GetOwnerReferences()) == 0 {
		return
	}
	t.told[name+"/"] = true
	text := name + " creates owned objects and is not judged: --programs " + name + "=CONTROLLER holds it to the laws " +
		"here, and threelaws check tries it in its own repository"
	t.say(serveLine{Event: "unjudged", By: []string{name}, Text: text}, text)
}

// request tells of a request that was answered.
func (t *teller) request(e httpapi.Exchange) {
	t.say(serveLine{Event: "request", Verb: e.Verb, Path: e.URI, User: e.User, Agent: e.UserAgent, Status: e.Code,
		Seconds: e.Took.Seconds()},
		fmt.Sprintf("%s %s %s %q %d %s", e.Verb, e.URI, e.User, e.UserAgent, e.Code, e.Took.Round(10*time.Microsecond)))
}
