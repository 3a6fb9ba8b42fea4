package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
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
		s.complaint, s.starts = r.lastError(), r.starts()
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

// kinds returns the kinds that the server stores.
func (r *quiet) kinds() (all []schema.GroupVersionKind) {
	for _, k := range r.Server.Kinds() {
		all = append(all, k.GVK)
	}
	return all
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
		if only := r.elsewhere(); only != "" {
			watches = fmt.Sprintf("; it watches the kind %s only in the namespace %s", r.s.owner.GetKind(), only)
		}
	}
	if last != "" {
		return fmt.Sprintf("%d requests, the last of which was refused%s%s", n, last, watches)
	}
	return fmt.Sprintf("%d requests, none of which was refused%s", n, watches)
}

// elsewhere returns the only namespace in which the program watches the kind of its sample. It returns "" if the sample is
// there, or if there are several.
func (r *quiet) elsewhere() string {
	p := r.Cluster.Process(r.process)
	if p == nil {
		return ""
	}
	all := p.WatchedIn(r.Server.Kind(r.s.owner.GroupVersionKind()))
	if len(all) != 1 || all[0] == r.s.owner.GetNamespace() {
		return ""
	}
	return all[0]
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
