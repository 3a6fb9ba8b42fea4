package check

import (
	"encoding/json"
	"fmt"
	"slices"
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

// quiet is a run in the default schedule, in which nothing is late: what the controller
// is like shows in it.
type quiet struct {
	*trial.Trial
	s       *subject
	process string
	of      *host.Process
	settled bool // it came to rest each time
	fights  bool // the last time it did not, as its writes repeat themselves
	ticking ticking
	began   int // the first record since the user has last done something
}

// mostQuietSteps is how many steps a quiet run may take between two actions of the user:
// a world of a few objects needs hundreds. Those of a whole program, mostProgramSteps, take a hundred times as long.
const (
	mostQuietSteps   = 50_000
	mostProgramSteps = 10_000
)

// run brings a world to rest: what is around the sample, and more. The caller stops it.
func (s *subject) run(more ...manifest) (*quiet, error) {
	return s.begin(append(slices.Clone(s.around), more...))
}

// begin brings a world with these objects to rest.
func (s *subject) begin(objects []manifest) (*quiet, error) { return s.drawn(objects, nil, nil) }

// drawn is begin under a schedule that is drawn, with faults; nil for the default one without.
func (s *subject) drawn(objects []manifest, choices sim.Choices, faults map[string]int) (*quiet, error) {
	if err := s.over(); err != nil {
		return nil, err
	}
	server := s.server.Fork()
	for _, m := range objects {
		if err := create(server, m); err != nil {
			return nil, err
		}
	}
	r := &quiet{Trial: trial.New(trial.Options{Server: server, Choices: choices, Laws: []*law.Law{law.ByID(law.ComeToRest)}}), s: s,
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
	if r.s.Controller.Hosted() { // which may poll, for an hour, until it has settled
		most = trial.Limits{Steps: mostProgramSteps, Idle: mostProgramSteps}
	}
	most.For, most.Rest = r.s.lasts, r.s.lasts > 0
	most.Stop = func() bool { return r.s.over() != nil || most.For == 0 && r.ticking.look() }
	last := r.Settle(most)
	r.settled, r.fights = last.Settled && r.settled, last.Fight
}

// manyWrites are more than a controller needs to answer an edit.
const manyWrites = 200

// writesOn reports whether the controller did not stop writing after what the user has last done. A Lease that is renewed
// and Events are no such writes.
func (r *quiet) writesOn() bool {
	n := 0
	for _, rec := range r.writes() {
		if !told(rec.Object) {
			n++
		}
	}
	return !r.settled && r.ticking.found == nil && (r.fights || n >= manyWrites)
}

// kindOf is the kind of what a record is about.
func (r *quiet) kindOf(rec *sim.Record) schema.GroupVersionKind {
	return r.Server.KindOf(rec.After.(runtime.Object)).GVK
}

// does lets the user do something, and brings the world to rest again. The error is the
// server's refusal.
func (r *quiet) does(req *fakeapi.Request) error {
	r.began = r.World.History.Len()
	if _, err := r.Request(req); err != nil {
		return err
	}
	r.settle()
	return r.s.over()
}

// merge sends a merge patch.
func (r *quiet) merge(m manifest, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return r.does(&fakeapi.Request{Verb: fakeapi.Patch, Kind: r.Server.Kind(m.GroupVersionKind()),
		Namespace: m.GetNamespace(), Name: m.GetName(), PatchType: types.MergePatchType, Patch: data})
}

// remove deletes an object by a policy.
func (r *quiet) remove(m manifest, policy metav1.DeletionPropagation) error {
	return r.does(&fakeapi.Request{Verb: fakeapi.Delete, Kind: r.Server.Kind(m.GroupVersionKind()),
		Namespace: m.GetNamespace(), Name: m.GetName(), Delete: metav1.DeleteOptions{PropagationPolicy: &policy}})
}

// writes are the commits of the controller since the user has last done something.
func (r *quiet) writes() (list []*sim.Record) {
	for i := r.began; i < r.World.History.Len(); i++ {
		if rec := r.World.History.At(i); rec.Op == sim.Commit && rec.Process == r.process {
			list = append(list, rec)
		}
	}
	return list
}

// stored is an object as it is stored, nil for none.
func (r *quiet) stored(m manifest) runtime.Object {
	return r.Server.Lookup(r.Server.Kind(m.GroupVersionKind()), m.GetNamespace(), m.GetName())
}

// shown is an object as it is stored, as a manifest; without fields for none.
func (r *quiet) shown(m manifest) manifest {
	o := r.stored(m)
	if o == nil {
		return manifest{&unstructured.Unstructured{Object: map[string]any{}}}
	}
	return shown(o, m.GroupVersionKind())
}

// there reports whether an object that a reference from a namespace is to is stored.
func (r *quiet) there(ref *metav1.OwnerReference, namespace string) bool {
	k := r.Server.Kind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if k == nil {
		return false
	}
	if !k.Namespaced {
		namespace = ""
	}
	o := r.Server.Lookup(k, namespace, ref.Name)
	return o != nil && o.(metav1.Object).GetUID() == ref.UID
}

// shows reports whether the controller's informers showed it anything of a kind.
func (r *quiet) shows(kind string) bool {
	for i := range r.World.History.Len() {
		if rec := r.World.History.At(i); rec.Op == sim.Delivery && rec.Process == r.process && rec.Object.Kind == kind {
			return true
		}
	}
	return false
}

// controlled lists what an owner controls of some kinds, in the order of kinds and names.
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

// idle says what a controller that wrote nothing did instead.
func (r *quiet) idle() string {
	if r.s.Controller.Hosted() {
		return r.asked()
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

// asked says what a program did instead.
func (r *quiet) asked() string {
	n, last := 0, ""
	for i := range r.World.History.Len() {
		switch rec := r.World.History.At(i); {
		case rec.Process != r.process:
		case rec.Op == sim.Read || rec.Op == sim.Commit:
			n++
		case rec.Op == sim.Refusal && rec.Object.Kind == "Lease":
			n++ // leader election begins with a read of a Lease that is not there yet
		case rec.Op == sim.Refusal:
			n, last = n+1, ": "+rec.Verb+" "+rec.Object.String()+": "+rec.Message
		case rec.Op == sim.FaultHit && rec.Verb == "crash":
			return rec.Reason
		}
	}
	if last != "" {
		return fmt.Sprintf("%d requests, the last of which was refused%s", n, last)
	}
	return fmt.Sprintf("%d requests, none of which was refused", n)
}
