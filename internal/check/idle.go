package check

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Idle is the error for a controller that wrote nothing in a quiet run, except Events.
type Idle struct {
	Created []sim.Ref // the objects that were created in this world
	Owner   string    // "widget/sample"
	Text    string    // what the controller did: "web has written nothing (2 syncs, none of which failed)"
	Printed []string  // the last lines that a program has printed; empty for a reconciler
	Status  []string  // what the status of the owner says about missing progress
	Absent  []sim.Ref // the objects that the controller has asked for and that do not exist
	Without []string  // the kinds that a program has listed or watches, and of which no object exists
	Only    string    // the only namespace in which the program watches the owner's kind, if that is not the owner's; or ""
	Made    int       // number of objects that the program has created for its sample
	Left    int       // number of those that exist when the world has settled
	Ends    bool      // the program ends with its sample, and is not started again; it does not end without the sample
}

func (i *Idle) Error() string {
	return fmt.Sprintf("it did nothing for its owner: in a world with %s %s", i.Owner, i.Why())
}

// Why describes the controller's actions without naming the owner. It ends with the last error that was logged, or with
// the last lines if no line is an error.
func (i *Idle) Why() string {
	errors, others := render.Digest(i.Printed)
	switch {
	case len(errors) > 0:
		return i.Text + "; the last error that it logged: " + errors[len(errors)-1]
	case len(others) > 0:
		return i.Text + "; the last lines that it printed: " + strings.Join(others[max(0, len(others)-3):], "; ")
	}
	return i.Text
}

// Fails reports whether the program has logged an error, or the status of its sample reports one.
func (i *Idle) Fails() bool {
	errors, _ := render.Digest(i.Printed)
	return len(errors)+len(i.Status) > 0
}

// mostPrinted is the maximal number of lines in Idle.Printed.
const mostPrinted = 200

// startRefused matches the error of a hosted program that tries to start another program.
var startRefused = regexp.MustCompile(`fork/exec ([^:]+): operation not permitted`)

// starts returns the other programs that the program has tried to start, as far as it printed the errors.
func (r *quiet) starts() (paths []string) {
	for _, m := range startRefused.FindAllStringSubmatch(strings.Join(r.printed(), "\n"), -1) {
		paths = appendOnce(paths, m[1])
	}
	return paths
}

// printed returns the last lines that the program has printed.
func (r *quiet) printed() []string {
	for _, p := range r.Cluster.Processes() {
		if p.Name == r.process {
			return p.Printed(mostPrinted)
		}
	}
	return nil
}

// logged returns the last error in the program's output, or the one that a reconcile returned last, after a semicolon.
func (r *quiet) logged() string {
	if last := r.lastError(); last != "" {
		return "; the last error that it logged: " + last
	}
	for i := r.World.History.Len() - 1; i >= 0; i-- {
		if rec := r.World.History.At(i); rec.Op == sim.SyncEnd && rec.Process == r.process && rec.Message != "" {
			return "; the last error of a reconcile: " + rec.Message
		}
	}
	return ""
}

// bareError matches an error of a reconcile without its text, as controller-runtime logs an error with an empty text.
var bareError = regexp.MustCompile(`Reconciler error( \(\d+ times\))?$`)

// lastError returns the last error in the program's output, or "". It prefers an error with a text.
func (r *quiet) lastError() string {
	errors, _ := render.Digest(r.printed())
	for _, text := range slices.Backward(errors) {
		if !bareError.MatchString(text) {
			return text
		}
	}
	if len(errors) == 0 {
		return ""
	}
	return errors[len(errors)-1]
}

// lacks describes a program that did nothing for its sample, or that lacks something according to Operator.Lacking. For
// other programs it returns nil.
func (r *quiet) lacks() *Idle {
	works, created := false, false
	for _, rec := range r.writes() {
		if rec.Object.Kind != "Event" && !r.s.itself(rec.Object) {
			works = true
			created = created || rec.Before == nil && rec.After != nil && !told(rec.Object)
		}
	}
	// a program may write to installed objects, such as its own Pod, without its sample
	if i := r.didNothing(); !works || !created && !r.sees() || r.s.Lacking != nil && r.s.Lacking(i, created) {
		return i
	}
	return nil
}

func (r *quiet) didNothing() *Idle {
	i := &Idle{Owner: r.s.owner.at(), Text: fmt.Sprintf("%s has written %s (%s)", r.process, r.s.nothing(), r.idle())}
	for _, rec := range slices.Backward(r.writes()) {
		if rec.Object.Kind == "Event" && rec.After != nil {
			e := shown(rec.After.(runtime.Object), r.kindOf(rec)).Object
			if e["reason"] == "LeaderElection" {
				continue // each start of a program records this Event
			}
			i.Text += fmt.Sprintf("; its last Event: %v: %v", e["reason"], cmp.Or(e["message"], e["note"]))
			break
		}
	}
	for n := range r.World.History.Len() {
		rec := r.World.History.At(n)
		switch {
		case rec.Op == sim.Refusal && rec.Process == r.process && rec.Verb == "get" && rec.Code == http.StatusNotFound:
			i.Absent = appendOnce(i.Absent, rec.Object)
		case rec.Op == sim.Commit && rec.Before == nil:
			i.Created = appendOnce(i.Created, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
	}
	for _, what := range r.s.Sample.pruned {
		i.Text += "; " + what.Error()
	}
	if i.Without = r.without(); len(i.Without) > 0 {
		i.Text += "; it found no " + strings.Join(i.Without, ", ")
	}
	i.Only = r.elsewhere()
	if after := r.later(); after > 0 {
		i.Text += fmt.Sprintf("; its log contains a later time: --for %s makes the world last until then",
			after.Truncate(time.Minute)+time.Minute)
	}
	i.Made, i.Left = r.made()
	i.Ends = r.of.Down && r.s.survives
	i.Printed = r.printed()
	i.Status = complaints(r.shown(r.s.owner).Object["status"])
	if paths := r.Server.Unserved(); len(paths) > 0 {
		i.Text += "; " + unserved(paths)
	}
	return i
}

// without returns the kinds that the program has listed or watches, and of which no object exists.
func (r *quiet) without() (names []string) {
	note := func(k *fakeapi.Kind) {
		if k != nil && r.Server.Len(k) == 0 && !told(sim.Ref{Kind: k.GVK.Kind}) {
			names = appendOnce(names, k.GVK.Kind)
		}
	}
	for n := range r.World.History.Len() {
		if rec := r.World.History.At(n); rec.Op == sim.Read && rec.Process == r.process && rec.Object.Name == "" {
			note(r.Server.KindNamed(rec.Object.Kind))
		}
	}
	if p := r.Cluster.Process(r.process); p != nil {
		for _, k := range p.Watches() {
			note(k)
		}
	}
	slices.Sort(names)
	return names
}

var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// later returns the earliest time in the program's output that is after the end of the world, as the time since the
// world's start. If there is none in the next month, it returns 0. A program that works by the clock logs when it works
// next.
func (r *quiet) later() (first time.Duration) {
	now := r.World.Clock.Elapsed()
	for _, text := range timestamp.FindAllString(strings.Join(r.printed(), "\n"), -1) {
		at, err := time.Parse(time.RFC3339, text)
		if after := at.Sub(sim.Epoch); err == nil && after > now && after < now+31*24*time.Hour && (first == 0 || after < first) {
			first = after
		}
	}
	return first
}

// made counts the objects that the program has created for its sample, and those of them that still exist. An object
// without an owner counts. An object with an owner counts if the owner is the sample, or an object that counts.
func (r *quiet) made() (made, left int) {
	uids := map[types.UID]bool{r.shown(r.s.owner).GetUID(): true}
	for _, rec := range r.writes() {
		if rec.Before != nil || rec.After == nil || told(rec.Object) || r.s.itself(rec.Object) {
			continue
		}
		owners := rec.After.(metav1.Object).GetOwnerReferences()
		if len(owners) > 0 && !slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return uids[o.UID] }) {
			continue
		}
		uids[types.UID(rec.Object.UID)] = true
		made++
		now, _ := r.Server.Lookup(r.Server.KindOf(rec.After.(runtime.Object)), rec.Object.Namespace, rec.Object.Name).(metav1.Object)
		if now != nil && string(now.GetUID()) == rec.Object.UID {
			left++
		}
	}
	return made, left
}

// failed matches the name of a state, such as a phase, that says that the work has failed.
var failed = regexp.MustCompile(`(?i)\b(error|fail)`)

// complaints returns what a status says about missing progress: a failed state, its messages, and those of conditions that
// are not true. It does not look into other lists.
func complaints(status any) (all []string) {
	fields, _ := status.(map[string]any)
	for _, name := range []string{"phase", "state", "stage", "status"} {
		if text, _ := fields[name].(string); failed.MatchString(text) {
			all = append(all, name+": "+text)
		}
	}
	add := func(of map[string]any) {
		for _, name := range []string{"message", "reason"} {
			if text, _ := of[name].(string); text != "" {
				all = appendOnce(all, text)
				return
			}
		}
	}
	add(fields)
	conditions, _ := fields["conditions"].([]any)
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["status"] != "True" {
			add(c)
		}
	}
	return all
}

// unserved says that a program requested paths, and got 404, because only a real server serves them.
func unserved(paths []string) string {
	return "the simulated server does not serve " + strings.Join(paths, ", ")
}
