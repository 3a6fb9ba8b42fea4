package check

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// found holds the results of quiet runs of a controller.
type found struct {
	creates    []creation
	owns       []schema.GroupVersionKind // kinds that it creates, and owns or should own
	writes     []string                  // other kinds that it writes, as "Widget/status"
	watches    []string
	finalizers []string
	also       []schema.GroupVersionKind // kinds that other controllers of the same program work on
	plain      []sim.Ref                 // objects that it creates with a reference to the sample that is no ControllerRef
	shared     []sim.Ref                 // objects in plain that a second owner has too
	fixed      []string                  // kinds of dependents with fixed names
	once       []schema.GroupVersionKind // kinds in owns whose deleted dependents are not created again
	unnoticed  []string                  // kinds whose deletion it does not notice, and what makes it look
	asleep     []schema.GroupVersionKind // kinds in owns whose events do not wake it

	of         string     // the sample, as steps of scenario files name it
	dependents []manifest // the sample's dependents when it has settled
	base       *end       // the sample alone
	pair       []manifest // the same beside a second owner
	second     manifest   // an owner beside the sample, with the same selector
	seconds    []manifest // its dependents, beside the sample

	adopts   bool // it adopted a copy of a dependent
	byName   bool // it adopted an object without an owner that has a dependent's name
	applies  bool // it creates by server-side apply, which writes the reference again each time
	releases bool // it released a dependent whose labels were changed
	unmarked bool // its webhooks refuse a label and an annotation of the sample
	selector *selector
	raised   *edit   // the edit of the sample before anything was tried
	scale    *edit   // an edit that changes the number of dependents
	change   *edit   // an edit that changes something else
	more     []*edit // further edits that it follows
	removes  []*edit // removals of optional fields
	keeps    *kept   // what a dependent keeps after one of these removals
	history  []*edit // edits after which it keeps what it had before
	untried  int     // fields that were not edited
	hurried  bool    // no time was left for some of them
	fights   *edit   // an edit after which it never settles, and keeps writing
	waits    []*edit // edits after which it retries for ever without a write
	wants    *wants
	distinct []distinct                          // fields whose value differs between all owners
	takes    map[metav1.DeletionPropagation]bool // it deletes its dependents itself if its owner is deleted with this policy

	cleans map[metav1.DeletionPropagation]cleanUp // what happens to objects that no reference holds

	ticks     *ticks   // it creates objects by the clock, for ever; nil if it does not
	unsettled bool     // it does not settle with one owner
	unknown   []string // what could not be determined, and why
}

// end holds an owner and its dependents at the end of a quiet run.
type end struct {
	settled    bool
	stored     runtime.Object // nil if it does not exist
	dependents []manifest
}

func (f *found) end(r *quiet, owner manifest) *end {
	return &end{r.settled, r.stored(owner), r.controlled(owner, f.owns)}
}

type creation struct {
	kind schema.GroupVersionKind
	how  string // "as its controller"
}

// How a created object belongs to the owner.
const (
	controls = "with a ControllerRef"
	refers   = "with a plain reference"
	sharing  = "with a plain reference, one for all owners (declare Owns, and it must have a ControllerRef)"
	none     = "without a reference"
	outlives = "without a reference, so that it outlives its owner"
	afar     = "out of the reach of a reference"
	elses    = "for an object of another kind"
	itself   = "for itself, in a world without a sample too"
)

// look runs the controller in quiet worlds. The error is about a controller that did nothing, or a world that cannot be
// made.
func (s *operator) look() (*found, error) {
	f := &found{of: s.owner.at(), takes: map[metav1.DeletionPropagation]bool{},
		cleans: map[metav1.DeletionPropagation]cleanUp{}}
	if err := s.standalone(); err != nil {
		return nil, err
	}
	r, err := s.run(s.owner)
	if err != nil {
		return nil, err
	}
	if s.finish(r) {
		r.Stop()
		if r, err = s.run(s.owner); err != nil {
			return nil, err
		}
	}
	if f.ticks = r.ticking.found; f.ticks != nil {
		s.lasts = f.ticks.lasts()
		r.Stop()
		if r, err = s.run(s.owner); err != nil {
			return nil, err
		}
	}
	defer func() { r.Stop() }()
	if !slices.ContainsFunc(r.writes(), func(rec *sim.Record) bool { return !s.itself(rec.Object) }) {
		return nil, r.didNothing()
	}
	f.note(r)
	if two, err := f.two(s, r); err != nil {
		return nil, err
	} else if two != nil {
		r.Stop()
		r = two
		f.note(r)
	}
	f.watch(r)
	f.base = f.end(r, s.owner)
	if f.dependents = f.base.dependents; !r.settled {
		f.unsettled = true
		f.unknown = append(f.unknown, "it does not settle with one owner alone: no other facts were derived")
		return f, nil
	}
	if f.unmarked, err = r.refusesMarks(s.owner); err != nil {
		return nil, err
	}
	for _, probe := range []func(*operator) error{f.inherited, f.shares, f.beside, f.differs, f.names, f.alone, f.adoption, f.deletedOnes, f.edits, f.deletions} {
		if err := probe(s); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// watch lists the kinds that the controller watches, and the kinds of dependents whose events do not wake it.
func (f *found) watch(r *quiet) {
	wakes := map[string]bool{}
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		if rec.Op != sim.Delivery || rec.Process != r.process {
			continue
		}
		kind := rec.Object.Kind
		wakes[kind] = wakes[kind] || len(rec.Enqueued) > 0
		f.watches = appendOnce(f.watches, kind)
	}
	routed := func(gvk schema.GroupVersionKind) bool {
		return slices.ContainsFunc(r.s.Controller.Routes, func(to host.Route) bool { return to.Kind == gvk })
	}
	for _, gvk := range f.owns {
		if r.s.Controller.Hosted() {
			break // events in a program cannot be seen
		}
		if !wakes[gvk.Kind] && !routed(gvk) && slices.ContainsFunc(f.creates, func(c creation) bool { return c.kind == gvk }) {
			f.asleep = append(f.asleep, gvk)
		}
	}
	slices.Sort(f.watches)
}

// names finds the kinds whose dependents have fixed names. The test puts another object under the name: then a
// dependent is missing, or the object is adopted.
func (f *found) names(s *operator) error {
	for _, d := range f.each() {
		theirs := d.copied(d.GetName())
		theirs.SetLabels(nil)
		r, err := s.run(theirs, s.owner)
		if err != nil {
			continue
		}
		own := r.controlled(s.owner, f.owns)
		took := slices.ContainsFunc(own, func(o manifest) bool { return o.at() == d.at() })
		if f.byName = f.byName || took; took || len(own) < len(f.dependents) {
			f.fixed = append(f.fixed, d.GetKind())
		}
		r.Stop()
	}
	return nil
}

// alone finds the kinds on which a whole program works without the sample. A copy without an owner is then not an
// orphan.
func (f *found) alone(s *operator) error {
	if !s.Controller.Hosted() {
		return nil
	}
	for _, d := range f.each() {
		if !slices.ContainsFunc(s.definitions, defines(d.GroupVersionKind().GroupKind())) {
			continue
		}
		copy := d.copied(stray)
		r, err := s.run(copy)
		if err != nil {
			continue // the cases with lookalikes say why
		}
		if slices.ContainsFunc(r.writes(), func(rec *sim.Record) bool {
			return rec.Object.Kind == copy.GetKind() && rec.Object.Name == copy.GetName()
		}) {
			f.worksOn(r, d.GroupVersionKind())
		}
		r.Stop()
	}
	return nil
}

// defines matches the CRD of a kind.
func defines(kind schema.GroupKind) func(manifest) bool {
	return func(m manifest) bool {
		group, _, _ := unstructured.NestedString(m.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(m.Object, "spec", "names", "kind")
		return group == kind.Group && name == kind.Kind
	}
}

// note records the objects that the controller created and their owners, its finalizers, and its other writes.
func (f *found) note(r *quiet) {
	declared := r.s.Controller.Owns
	f.owns = slices.Clone(declared)
	for _, rec := range r.writes() {
		after, _ := rec.After.(runtime.Object)
		if after == nil {
			continue
		}
		m := after.(metav1.Object)
		gvk := r.Server.KindOf(after).GVK
		if gvk.Empty() || rec.Object.Kind != gvk.Kind {
			panic("check: the server does not know the kind of " + rec.Object.String())
		}
		f.holds(rec, m)
		switch {
		case rec.Before != nil:
			f.wrote(rec)
			if _, d := r.Server.KindOf(after).Definition(); d != nil && rec.Subresource == "status" {
				f.worksOn(r, gvk) // by convention the controller of a kind writes its status
			}
			continue
		case gvk.Kind == "Event" || gvk.Kind == "Lease":
			continue // events and leader election have no owner
		case r.s.itself(rec.Object):
			f.creates = appendOnce(f.creates, creation{gvk, itself})
			continue
		}
		f.applies = f.applies || rec.Verb == "patch"
		c := creation{gvk, r.belongs(m)}
		if c.how == none && gvk.Kind == "PersistentVolumeClaim" {
			c.how = outlives // it keeps data, like a StatefulSet
		}
		if ref := metav1.GetControllerOf(m); c.how == elses && ref != nil {
			f.worksOn(r, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		}
		f.creates = appendOnce(f.creates, c)
		if c.how == refers && len(declared) == 0 {
			f.plain = append(f.plain, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		undeclared := len(declared) == 0 && (c.how == none || c.how == refers)
		if undeclared || c.how == controls {
			f.owns = appendOnce(f.owns, gvk)
		}
	}
}

// worksOn notes a further kind that the program has a controller for.
func (f *found) worksOn(r *quiet, gvk schema.GroupVersionKind) {
	if c := r.s.Controller; c.Hosted() && gvk != c.For {
		f.also = appendOnce(f.also, gvk)
	}
}

func (f *found) wrote(rec *sim.Record) {
	what := rec.Object.Kind
	if rec.Subresource != "" {
		what += "/" + rec.Subresource
	}
	f.writes = appendOnce(f.writes, what)
}

// belongs says how a created object belongs to the owner. A program may have controllers for other kinds.
func (r *quiet) belongs(m metav1.Object) string {
	owner, stored := r.s.owner, r.stored(r.s.owner)
	if ref := metav1.GetControllerOf(m); r.s.Controller.Hosted() && ref != nil && ref.Kind != owner.GetKind() &&
		r.shows(ref.Kind) && r.there(ref, m.GetNamespace()) {
		return elses
	}
	if owner.GetNamespace() != "" && m.GetNamespace() != owner.GetNamespace() {
		return afar
	}
	for _, ref := range m.GetOwnerReferences() {
		if stored != nil && ref.UID == stored.(metav1.Object).GetUID() {
			if ref.Controller != nil && *ref.Controller {
				return controls
			}
			return refers
		}
	}
	return none
}

// deletions finds which process deletes the dependents of a deleted owner.
func (f *found) deletions(s *operator) error {
	for _, policy := range policies {
		r, err := s.run(s.owner)
		if err != nil {
			return err
		}
		if err := r.remove(s.owner, policy); err != nil {
			f.unknown = append(f.unknown, "its end: "+err.Error())
		}
		f.takes[policy] = slices.ContainsFunc(r.writes(), func(rec *sim.Record) bool {
			return rec.Verb == "delete" && slices.ContainsFunc(f.owns, func(gvk schema.GroupVersionKind) bool {
				return gvk.Kind == rec.Object.Kind
			})
		})
		f.handed(s, r)
		r.Stop()
		if f.cleans[policy], err = f.cleansUp(s, policy); err != nil {
			return err
		}
	}
	return nil
}

var policies = []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground,
	metav1.DeletePropagationOrphan}
