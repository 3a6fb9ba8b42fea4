package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// quiet is a run of a world, usually in the default schedule, without faults and late events.
type quiet struct {
	*trial.Trial
	s       *operator
	process string
	of      *host.Process
	settled bool // the world has settled after each user action
	fights  bool // the world did not settle after the last user action, because the same writes repeat
	ticking ticking
	began   int // index of the first record after the last user action
}

// These constants limit the steps of a quiet run between two user actions. Steps of whole programs take longer.
const (
	mostQuietSteps   = 50_000
	mostProgramSteps = 10_000
)

// run runs a world with the given objects and those around the sample, until it has settled. The caller must call Stop.
func (s *operator) run(more ...manifest) (*quiet, error) {
	r, err := s.drawn(append(slices.Clone(s.around), more...), nil, nil)
	if err == nil && len(more) == 1 && more[0] == s.owner {
		s.complaint = r.lastError()
	}
	return r, err
}

// drawn runs a world with these objects until it has settled, or until a limit ends the run. choices and faults
// determine the schedule; nil means the default schedule without faults.
func (s *operator) drawn(objects []manifest, choices sim.Choices, faults map[string]int) (*quiet, error) {
	if err := s.over(); err != nil {
		return nil, err
	}
	if s.Tell != nil {
		s.Tell(cmp.Or(s.fact, "what it creates"))
	}
	if choices == nil && s.Controller.Hosted() {
		choices = &sim.Prompt{}
	}
	server := s.server.Fork()
	for _, m := range objects {
		if err := create(server, m); err != nil {
			return nil, err
		}
	}
	r := &quiet{Trial: trial.New(trial.Options{Server: server, Choices: choices, Laws: []*law.Law{law.ByID(law.AlwaysSettles)}}), s: s,
		process: s.Controller.Name, settled: true}
	r.ticking = ticking{of: r, at: map[deed][]time.Duration{}}
	if err := r.Faults(faults); err != nil {
		return nil, err
	}
	r.of = s.start(r.Trial, r.process)
	for i, c := range s.beside {
		r.Start(s.With[i], c)
	}
	if r.settle(); s.over() != nil {
		r.Stop()
		return nil, s.over()
	}
	return r, nil
}

func (r *quiet) settle() {
	most := trial.Limits{Steps: mostQuietSteps, Idle: mostQuietSteps / 20}
	if r.s.Controller.Hosted() { // a program may poll for an hour before it settles
		most = trial.Limits{Steps: mostProgramSteps, Idle: mostProgramSteps}
	}
	most.For, most.Rest = r.s.lasts, r.s.lasts > 0
	most.Stop = func() bool { return r.s.over() != nil || most.For == 0 && r.ticking.look() }
	last := r.Settle(most)
	r.settled, r.fights = last.Settled && r.settled, last.Fight
}

// A controller that makes manyWrites writes after one user action, and does not settle, counts as writing forever.
const manyWrites = 200

// writesOn reports whether the controller writes without end. Writes to Events and Leases do not count.
func (r *quiet) writesOn() bool {
	n := 0
	for _, rec := range r.writes() {
		if !told(rec.Object) {
			n++
		}
	}
	return !r.settled && r.ticking.found == nil && (r.fights || n >= manyWrites)
}

func (r *quiet) kindOf(rec *sim.Record) schema.GroupVersionKind {
	return r.Server.KindOf(rec.After.(runtime.Object)).GVK
}

// does executes a user action, and runs the world until it settles. The error is the server's refusal, or the error of
// the context.
func (r *quiet) does(req *fakeapi.Request) error {
	r.began = r.World.History.Len()
	if _, err := r.Request(req); err != nil {
		return err
	}
	r.settle()
	return r.s.over()
}

func (r *quiet) merge(m manifest, patch map[string]any) error {
	req, err := r.patch(m, patch)
	if err != nil {
		return err
	}
	return r.does(req)
}

func (r *quiet) patch(m manifest, patch map[string]any) (*fakeapi.Request, error) {
	data, err := json.Marshal(patch)
	return &fakeapi.Request{Verb: fakeapi.Patch, Kind: r.Server.Kind(m.GroupVersionKind()),
		Namespace: m.GetNamespace(), Name: m.GetName(), PatchType: types.MergePatchType, Patch: data}, err
}

func (r *quiet) remove(m manifest, policy metav1.DeletionPropagation) error {
	return r.does(&fakeapi.Request{Verb: fakeapi.Delete, Kind: r.Server.Kind(m.GroupVersionKind()),
		Namespace: m.GetNamespace(), Name: m.GetName(), Delete: metav1.DeleteOptions{PropagationPolicy: &policy}})
}

// writes lists the controller's commits since the last user action.
func (r *quiet) writes() (list []*sim.Record) {
	for i := r.began; i < r.World.History.Len(); i++ {
		if rec := r.World.History.At(i); rec.Op == sim.Commit && rec.Process == r.process {
			list = append(list, rec)
		}
	}
	return list
}

func (r *quiet) stored(m manifest) runtime.Object {
	return r.Server.Lookup(r.Server.Kind(m.GroupVersionKind()), m.GetNamespace(), m.GetName())
}

// shown returns the stored object as a manifest. If the object does not exist, the manifest is empty.
func (r *quiet) shown(m manifest) manifest {
	o := r.stored(m)
	if o == nil {
		return manifest{&unstructured.Unstructured{Object: map[string]any{}}}
	}
	return shown(o, m.GroupVersionKind())
}

// resolve returns the object of an owner reference. It returns nil if ref is nil, or if the object does not exist.
func (r *quiet) resolve(ref *metav1.OwnerReference, namespace string) metav1.Object {
	if ref == nil {
		return nil
	}
	k := r.Server.Kind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if k == nil {
		return nil
	}
	if !k.Namespaced {
		namespace = ""
	}
	if o, _ := r.Server.Lookup(k, namespace, ref.Name).(metav1.Object); o != nil && o.GetUID() == ref.UID {
		return o
	}
	return nil
}

// shows reports whether an informer of the controller has delivered an object of this kind.
func (r *quiet) shows(kind string) bool {
	for i := range r.World.History.Len() {
		if rec := r.World.History.At(i); rec.Op == sim.Delivery && rec.Process == r.process && rec.Object.Kind == kind {
			return true
		}
	}
	return false
}

// controlled lists the non-terminating objects that an owner controls, in the order of kinds, and then by name.
func (r *quiet) controlled(owner manifest, kinds []schema.GroupVersionKind) (list []manifest) {
	obj := r.stored(owner)
	if obj == nil {
		return nil
	}
	uid := obj.(metav1.Object).GetUID()
	for _, gvk := range kinds {
		k := r.Server.Kind(gvk)
		r.Server.Each(k, func(o runtime.Object) bool {
			m := o.(metav1.Object)
			if ref := metav1.GetControllerOfNoCopy(m); ref != nil && ref.UID == uid && m.GetDeletionTimestamp() == nil {
				list = append(list, shown(o, gvk))
			}
			return true
		})
	}
	return list
}

// idle describes the actions of the controller in a run without writes.
func (r *quiet) idle() string {
	if r.s.Controller.Hosted() {
		return r.requested()
	}
	syncs, failed := 0, ""
	for i := range r.World.History.Len() {
		if rec := r.World.History.At(i); rec.Op == sim.SyncEnd && rec.Process == r.process {
			if syncs++; rec.Message != "" {
				failed = rec.Message
			}
		}
	}
	switch {
	case syncs == 0:
		return "no event brought it to a sync: look at Routes"
	case failed != "":
		return fmt.Sprintf("%d syncs, the last error: %s", syncs, failed)
	}
	return fmt.Sprintf("%d syncs, none of which failed", syncs)
}

// requested describes the actions of a hosted program in a run without writes: its requests, or a crash.
func (r *quiet) requested() string {
	n, last := 0, ""
	for i := range r.World.History.Len() {
		switch rec := r.World.History.At(i); {
		case rec.Process != r.process:
		case rec.Op == sim.Read || rec.Op == sim.Commit:
			n++
		case rec.Op == sim.Refusal && rec.Object.Kind == "Lease":
			n++ // the first request of leader election reads a Lease that does not exist yet
		case rec.Op == sim.Refusal:
			n, last = n+1, ": "+rec.Verb+" "+rec.Object.String()+": "+rec.Message
		case rec.Op == sim.FaultHit && rec.Verb == "crash":
			why, _, _ := strings.Cut(rec.Reason, "; the last lines that it printed:") // Idle.Printed has more lines
			if n == 0 && strings.HasSuffix(why, "exit status 0") {
				why += " without a request; it may need a subcommand: --args"
			}
			return why
		}
	}
	watches := ""
	if p := r.Cluster.Process(r.process); p != nil && !slices.ContainsFunc(p.Watches(), func(k *fakeapi.Kind) bool {
		return k.GVK.GroupKind() == r.s.owner.GroupVersionKind().GroupKind()
	}) {
		watches = "; it does not watch " + r.s.owner.GetKind() // a flag may have switched off this controller
	} else if !r.sees() {
		watches = "; it was not shown the " + r.s.owner.GetKind() + ": it may watch other namespaces than that of the sample"
	}
	if last != "" {
		return fmt.Sprintf("%d requests, the last of which was refused%s%s", n, last, watches)
	}
	return fmt.Sprintf("%d requests, none of which was refused%s", n, watches)
}

// sees reports whether the program was shown its sample, has written to it, or has read it or a list that may contain it.
func (r *quiet) sees() bool {
	o := r.s.owner
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		if rec.Process == r.process && slices.Contains([]sim.Op{sim.Delivery, sim.Read, sim.Commit}, rec.Op) && rec.Object.Kind == o.GetKind() &&
			(rec.Object.Name == o.GetName() || rec.Object.Name == "") &&
			(rec.Object.Namespace == o.GetNamespace() || rec.Object.Namespace == "") {
			return true
		}
	}
	return false
}

func told(o sim.Ref) bool { return o.Kind == "Event" || o.Kind == "Lease" }

// Idle is the error for a controller that wrote nothing in a quiet world, except Events.
type Idle struct {
	Created []sim.Ref // the objects that were created in this world
	Owner   string    // "widget/sample"
	Text    string    // what the controller did: "web has written nothing (2 syncs, none of which failed)"
	Printed []string  // the last lines that a program has printed; empty for a reconciler
	Status  []string  // what the status of the owner says about missing progress
	Absent  []sim.Ref // the objects that the controller has asked for and that do not exist
	Made    int       // number of objects that the program has created for its sample
	Left    int       // number of those that exist when the world has settled
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

// printed returns the last lines that the program has printed.
func (r *quiet) printed() []string {
	for _, p := range r.Cluster.Processes() {
		if p.Name == r.process {
			return p.Printed(mostPrinted)
		}
	}
	return nil
}

// logged returns the last error in the program's output, after a semicolon, or "".
func (r *quiet) logged() string {
	if last := r.lastError(); last != "" {
		return "; the last error that it logged: " + last
	}
	return ""
}

// lastError returns the last error in the program's output, or "".
func (r *quiet) lastError() string {
	errors, _ := render.Digest(r.printed())
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
	i.Made, i.Left = r.made()
	i.Printed = r.printed()
	i.Status = complaints(r.shown(r.s.owner).Object["status"])
	if paths := r.Server.Unserved(); len(paths) > 0 {
		i.Text += "; " + unserved(paths)
	}
	return i
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

// complaints returns what a status says about missing progress: its messages, and those of conditions that are not true.
// It does not look into other lists.
func complaints(status any) (all []string) {
	fields, _ := status.(map[string]any)
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
