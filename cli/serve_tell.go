package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// serveLine is a line of serve --json. The first line contains the server's address. All other lines are events.
type serveLine struct {
	Event       string   `json:"event"` // such as "serving", "violates" or "request"
	URL         string   `json:"url,omitempty"`
	Page        string   `json:"page,omitempty"` // the URL of the page, with --ui
	Kubeconfig  string   `json:"kubeconfig,omitempty"`
	Controllers []string `json:"controllers,omitempty"` // the controllers that run
	Unattended  []string `json:"unattended,omitempty"`  // resources without a running controller: "jobs (job)"
	ID          string   `json:"id,omitempty"`          // the clause ID of the law
	Law         string   `json:"law,omitempty"`
	By          []string `json:"by,omitempty"`     // the controllers or programs that the event is about
	Object      string   `json:"object,omitempty"` // the object that was written, or whose reconcile fails
	Text        string   `json:"text,omitempty"`
	Fault       string   `json:"fault,omitempty"` // the text of the fault, as in --fault

	Verb    string  `json:"verb,omitempty"`
	Path    string  `json:"path,omitempty"`
	User    string  `json:"user,omitempty"`
	Agent   string  `json:"userAgent,omitempty"`
	Status  int     `json:"status,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// teller prints the reports of a server. It is safe for concurrent use, but callers of created and unjudged must hold
// the server's lock.
type teller struct {
	a    *app
	mu   sync.Mutex
	told map[string]bool // what was reported: a resource without a controller ("jobs"), a program without laws ("name/")
}

func (t *teller) say(l serveLine, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.a.json {
		_ = t.a.line(l)
		return
	}
	fmt.Fprintln(t.a.err, text)
}

const inRealTime = "in real time: this run is not deterministic, and cannot be replayed"

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
	a.printf("controllers: %s\n", cmp.Or(strings.Join(l.Controllers, ", "), "none"))
	if len(l.Unattended) > 0 {
		a.printf("no controller runs for: %s\n", strings.Join(l.Unattended, ", "))
	}
	return nil
}

func (t *teller) verdict(v verdict) {
	text := render.WithoutUIDs(v.violation.Text)
	l := serveLine{Event: "violates", ID: v.violation.Law.ID, Law: v.violation.Law.Name, By: v.by, Object: v.object,
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

// created reports each new object of a kind that the server only stores ([fakeapi.Kind.Inert]). For a kind that no
// controller handles, it reports the first object. It returns a warning for the client, or "".
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

// hands lists user agents of interactive programs, and of Go programs that set none.
var hands = []string{"kubectl", "oc", "helm", "Helm", "k9s", "Mozilla", "curl", "Wget", "Go-http-client"}

// unjudged reports, once for each program, that the program creates owned objects but no laws apply to it.
func (t *teller) unjudged(played map[string]host.Controller, req *fakeapi.Request, object metav1.Object) {
	name, _, _ := strings.Cut(req.UserAgent, "/")
	_, judged := played[name]
	if name == "" || judged || slices.Contains(hands, name) || t.told[name+"/"] || len(object.GetOwnerReferences()) == 0 {
		return
	}
	t.told[name+"/"] = true
	text := name + " creates owned objects and is not judged: --programs " + name + "=CONTROLLER judges it here, and " +
		"threelaws check tests it in its own repository"
	t.say(serveLine{Event: "unjudged", By: []string{name}, Text: text}, text)
}

func (t *teller) request(e httpapi.Exchange) {
	t.say(serveLine{Event: "request", Verb: e.Verb, Path: e.URI, User: e.User, Agent: e.UserAgent, Status: e.Code,
		Seconds: e.Took.Seconds()},
		fmt.Sprintf("%s %s %s %q %d %s", e.Verb, e.URI, e.User, e.UserAgent, e.Code, e.Took.Round(10*time.Microsecond)))
}

// reporter reports each violation once per controller and law. It reports a fight once per set of controllers.
type reporter struct {
	judge *law.Judge
	told  map[string]bool
	wrote [cyclesBack]writeOf // the last writes; a write with record index i is at i % cyclesBack
	tell  func(verdict)
}

type verdict struct {
	violation *law.Violation
	by        []string
	object    string
}

type writeOf struct {
	record  int
	process string
}

// cyclesBack is the number of most recent records in which reporter searches the writes of a fight.
const cyclesBack = 1 << 12

func newReporter(judge *law.Judge, tell func(verdict)) *reporter {
	return &reporter{judge: judge, told: map[string]bool{}, tell: tell}
}

// Observe reports new violations of strength [law.Informed]. Then it clears the judge's list of violations, because the
// judge keeps only a limited number for each law.
func (r *reporter) Observe(rec *sim.Record) {
	if rec.Op == sim.Commit {
		r.wrote[rec.Index%cyclesBack] = writeOf{rec.Index, rec.Process}
	}
	all := r.judge.Violations()
	for i := range all {
		b := &all[i]
		if b.Strength != law.Informed {
			continue
		}
		v := verdict{violation: b, by: r.fighters(b)}
		if b.Controller != "" {
			v.by = []string{b.Controller}
		}
		if b.Record == rec.Index && rec.Op == sim.Commit {
			v.object = rec.Object.String()
		}
		if key := b.Law.ID + " " + strings.Join(v.by, " "); !r.told[key] {
			r.told[key] = true
			r.tell(v)
		}
	}
	if len(all) > 0 {
		r.judge.Since(rec.Index + 1)
	}
}

func (r *reporter) fighters(b *law.Violation) (who []string) {
	for _, at := range b.Cycle {
		if w := r.wrote[at%cyclesBack]; w.record == at && w.process != "" && !slices.Contains(who, w.process) {
			who = append(who, w.process)
		}
	}
	slices.Sort(who)
	return who
}

// attended contains the controllers that handle a kind, and what does not happen without them.
type attended struct {
	by      []string // names of controllers
	lacking string
}

func attendants(g *scenarios.Registry) map[schema.GroupKind]attended {
	all := map[schema.GroupKind]attended{
		{Kind: "Pod"}:       {[]string{"kubelet"}, "it is not run"},
		{Kind: "Namespace"}: {[]string{"namespace"}, "it is not emptied when it is deleted, and stays"},
		{Kind: "PersistentVolumeClaim"}: {[]string{"persistentvolumeclaim-protection"},
			"it keeps its finalizer when it is deleted, and stays"},
	}
	for _, c := range g.Controllers {
		at := c.For.GroupKind()
		if c.For.Empty() || slices.Contains(all[at].by, c.Name) {
			continue
		}
		all[at] = attended{append(all[at].by, c.Name), "nothing acts on it"}
	}
	return all
}

type unattended map[schema.GroupKind]attended

// unattendedBy returns the kinds that none of the chosen controllers handles.
func unattendedBy(g *scenarios.Registry, chosen []host.Controller) unattended {
	all := unattended(attendants(g))
	for at, a := range all {
		if slices.ContainsFunc(chosen, func(c host.Controller) bool { return slices.Contains(a.by, c.Name) }) {
			delete(all, at)
		}
	}
	return all
}

func (u unattended) resources(s *fakeapi.Server) (list []string) {
	for _, k := range s.Kinds() {
		if a, is := u[k.GVK.GroupKind()]; is {
			list = append(list, k.Resource+" ("+strings.Join(a.by, " or ")+")")
		}
	}
	slices.Sort(list)
	return list
}

// warning returns the warning for creating an object of this kind: the server only stores it, or no controller handles
// it. Without a warning it returns "". Pods get none: most are created by controllers, which ignore warnings.
func (u unattended) warning(k *fakeapi.Kind) string {
	if why := k.Inert(); why != "" {
		return "this server only stores " + k.Resource + ": " + why
	}
	a, is := u[k.GVK.GroupKind()]
	if !is || k.GVK.Kind == "Pod" {
		return ""
	}
	return "no " + strings.Join(a.by, " or ") + " controller runs in this server: " + a.lacking
}

// stuckAfter is the number of consecutive failed reconciles after which an object is reported. Conflicts and outdated
// caches cause fewer failures.
const stuckAfter = 5

// stuck reports objects whose reconciles keep failing. It reports an object again only after a successful reconcile.
type stuck struct {
	failed map[failing]int
	tell   func(process, object, text string)
}

type failing struct{ process, object string }

func (s *stuck) Observe(r *sim.Record) {
	if r.Op != sim.SyncEnd {
		return
	}
	at := failing{r.Process, r.Object.String()}
	if r.Message == "" {
		delete(s.failed, at)
		return
	}
	if s.failed[at]++; s.failed[at] == stuckAfter {
		object := at.object
		if r.Object.Kind == "" {
			object = "" // the garbage collector's keys are not names of objects
		}
		s.tell(at.process, object, render.WithoutUIDs(r.Message))
	}
}

func (t *teller) fails(process, object, text string) {
	at := ""
	if object != "" {
		at = " at " + object
	}
	t.say(serveLine{Event: "fails", By: []string{process}, Object: object, Text: text},
		fmt.Sprintf("%s fails%s, %d times so far, and retries with growing delays: %s", process, at, stuckAfter, text))
}
