package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// found contains facts about a controller from runs without faults.
type found struct {
	creates    []creation
	owns       []schema.GroupVersionKind // kinds of dependents: created with a ControllerRef, or wrongly without one
	writes     []string                  // what the controller updates: "Widget", "Widget/status"
	watches    []string
	finalizers []string
	stuck      string                    // the error after which the sample stays terminating in a quiet run; "" for none
	also       []schema.GroupVersionKind // kinds that other controllers of the same program reconcile
	frees      []manifest                // the user's objects from which it removes its finalizers after the sample's deletion
	loses      []manifest                // the user's objects that are deleted with the sample, although it cannot create them
	given      []manifest                // the user's objects beside the sample
	misses     []manifest                // empty objects with the names of those that the controller deletes, and that do not exist
	goes       bool                      // the deleted sample no longer exists at the end of a quiet run
	protects   bool                      // the controller keeps the deleted sample, and reports that this is intended
	plain      []sim.Ref                 // created objects that refer to the sample without a ControllerRef
	bare       []sim.Ref                 // created objects without references
	shared     []sim.Ref                 // objects that need no ControllerRef: shared, or kept after their owner
	fixed      []string                  // kinds of dependents with fixed names
	once       []schema.GroupVersionKind // kinds in owns whose dependents are not created again after a deletion
	silent     []schema.GroupVersionKind // kinds in once for which the controller reports nothing after the deletion
	unnoticed  []string                  // kinds of dependents that are created again late after a deletion, and when
	asleep     []schema.GroupVersionKind // kinds in owns whose events enqueue nothing

	of         string     // the sample as scenario files name it: "widget/sample"
	dependents []manifest // the sample's dependents when it has settled
	base       *end       // the sample in a world without a second owner
	pair       []manifest // the sample's dependents in a world with a second owner
	second     manifest   // the second owner: the sample under another name
	seconds    []manifest // the dependents of the second owner
	drops      [][]string // fields of the sample's spec that the controller removes
	contend    bool       // one of two owners lacks dependents, as if they compete for names
	bereft     []manifest // dependents of the sample that the second owner lacks after the sample's deletion
	far        alike      // the sample, and an owner of the same name in another namespace
	long       alike      // two owners with long names that differ only at the end

	adopts   bool // the controller adopts a copy of a dependent
	byName   bool // the controller adopts an object that has the name of a dependent and no owner
	applies  bool // the controller creates by server-side apply, which restores the reference at each write
	releases bool // the controller releases a dependent whose labels are changed
	clings   bool // such a dependent still belongs to its owner
	forgets  bool // the controller keeps such a dependent, and creates another one beside it
	restores bool // the controller restores the labels of such a dependent
	unmarked bool // a webhook refuses the label and the annotation that the case two-owners adds to the sample
	selector *selector
	raised   *edit   // the edit that gave the sample more dependents, see (*found).two; nil if there is none
	scale    *edit   // an edit that changes the number of dependents
	change   *edit   // an edit to which the controller reacts, with the same number of dependents
	more     []*edit // further edits to which the controller reacts
	removes  []*edit // removals of optional fields to which the controller reacts
	keeps    *kept   // values that dependents wrongly keep after the removal of an optional field; or nil
	renamed  *kept   // dependents whose names contain an edited text and that wrongly keep the old one; or nil
	partly   *behind // an edit that the dependents follow only in part; or nil
	history  []*edit // edits and removals after which the number of dependents depends on earlier edits too
	untried  int     // number of fields that were not edited
	fights   *edit   // an edit after which the controller keeps writing and never settles
	strands  *edit   // an edit after which the deleted sample stays terminating, or leaves a finalizer; or nil
	waits    []*edit // edits after which the controller retries forever without writing
	wants    *wants
	distinct []distinct                                // fields that have a different value for each owner
	takes    map[metav1.DeletionPropagation]bool       // policy of a deletion -> the controller itself deletes dependents
	orphans  map[metav1.DeletionPropagation][]manifest // policy of a deletion -> dependents that stay without a controller

	cleans map[metav1.DeletionPropagation]cleanUp // objects without reference that the controller deletes, by policy

	ticks     *ticks        // the controller's periodic writes; nil if there are none
	leaves    time.Duration // when the controller deletes the sample itself; 0 if it does not
	atOnce    bool          // it deletes the sample so soon that no world can end before
	unsettled string        // restless or dies if quiet runs can show no more than the one with one owner
	unknown   []string      // facts that could not be found out, and why: see doubt
	lacks     probes
}

// These facts decide which cases apply.
const (
	adopting = "whether it adopts"
	besiding = "whether another owner can exist beside the sample"
	naming   = "whether it names"
	editing  = "which fields it follows"
	scaling  = "which number it follows"
	removing = "which removals it follows"
	deleting = "what it deletes after its owner"
)

// doubt records that quiet runs could not show a fact. The text begins with the fact, and says why.
func (f *found) doubt(text string) { f.unknown = appendOnce(f.unknown, text) }

// known returns the reason for skipping a case: why, unless the quiet runs could not show one of the facts.
func (f *found) known(why string, facts ...string) string {
	if f.unsettled != "" {
		return "unknown: " + f.unsettled
	}
	for _, fact := range facts {
		for _, text := range f.unknown {
			if strings.HasPrefix(text, fact) {
				return "unknown: " + text
			}
		}
	}
	return why
}

// untold is known for a fact about the fields of the sample, which may not all have been tried.
func (f *found) untold(why string, facts ...string) string {
	if why = f.known(why, facts...); f.untried == 0 || strings.HasPrefix(why, "unknown: ") {
		return why
	}
	return fmt.Sprintf("%s; %d further fields were not tried", why, f.untried)
}

const notSettled = "the quiet run did not settle"

// These constants are reasons why most cases would show nothing.
const (
	restless = "it does not settle with its sample alone"
	dies     = "it ends with its sample alone"
)

func (f *found) end(r *quiet, owner manifest) *end {
	return &end{r.settled, r.stored(owner), r.controlled(owner, f.owns), r.complains()}
}

type creation struct {
	kind schema.GroupVersionKind
	how  string // how the object refers to the owner: one of the constants below
}

// These constants say how a created object refers to the owner.
const (
	controls = "with a ControllerRef"
	refers   = "with a plain reference"
	sharing  = "with a plain reference, one for all owners (declare Owns, and it must have a ControllerRef)"
	none     = "without a reference"
	shared   = "without a reference, one for all owners"
	outlives = "without a reference, so that it outlives its owner" // see operator.names
	afar     = "out of the reach of a reference"
	elses    = "for an owner of another kind"
	chained  = "with a ControllerRef to a dependent"
	itself   = "for itself, in a world without a sample too"
)

// look finds facts about the controller in worlds without faults. It returns an error if the controller does nothing,
// or if a world cannot be set up.
func (s *operator) look() (*found, error) {
	f := &found{of: s.owner.at(), given: slices.Concat(s.around, s.installed), takes: map[metav1.DeletionPropagation]bool{}, orphans: map[metav1.DeletionPropagation][]manifest{},
		cleans: map[metav1.DeletionPropagation]cleanUp{}}
	if err := s.standalone(); err != nil {
		return nil, err
	}
	r, err := s.run(s.owner)
	if err != nil {
		return nil, err
	}
	if r.of.Down {
		return f.brief(s, r)
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
	if after, gone := r.removesOwner(); gone && s.lasts == 0 {
		if f.leaves = after; after < soon {
			r.Stop()
			f.atOnce, f.base = true, &end{}
			return f, nil
		}
		s.lasts = (after / 5).Round(time.Second)
		r.Stop()
		if r, err = s.run(s.owner); err != nil {
			return nil, err
		}
	}
	defer func() { r.Stop() }()
	if idle := r.lacks(); idle != nil {
		return nil, idle
	}
	if paths := r.Server.Unserved(); len(paths) > 0 {
		s.notes = append(s.notes, unserved(paths)+": the operator got 404")
	}
	f.note(r)
	f.drops, f.misses = r.drops(s.owner), r.misses()
	undo := s.limit()
	two, err := f.two(s, r)
	if undo(); err != nil && err != errLate {
		return nil, err
	} else if two != nil {
		r.Stop()
		r = two
		f.note(r)
	}
	f.watch(r)
	f.base = f.end(r, s.owner)
	if err := f.shares(s); err != nil {
		return nil, err
	}
	if f.dependents = f.base.dependents; !r.settled {
		f.unsettled = restless
		f.unknown = append(f.unknown, restless+", so no other facts were derived"+r.logged())
		return f, nil
	}
	if f.unmarked, err = r.refusesMarks(s.owner); err != nil {
		return nil, err
	}
	for _, look := range []func(*operator) error{f.inherited, f.alone} { // any case needs these facts
		if err := look(s); err != nil {
			return nil, err
		}
	}
	return f, f.probe(s)
}

// brief is look for a program that does not survive its first run and is not restarted. Each run of an endless loop takes
// seconds, and no run would show more than this one.
func (f *found) brief(s *operator, r *quiet) (*found, error) {
	defer r.Stop()
	if idle := r.lacks(); idle != nil {
		return nil, idle
	}
	f.note(r)
	f.watch(r)
	f.base = f.end(r, s.owner)
	f.dependents, f.unsettled = f.base.dependents, dies
	f.doubt(dies + ", so no other facts were derived: " + r.ending())
	return f, nil
}

// probes lists the probes in the order of their use for the cases.
func (f *found) probes() []probe {
	return []probe{
		{besiding, f.beside, []string{"two-owners", "deleted/background", "deleted/foreground",
			"deleted/orphan", "deleted/early", "deleted/unseen", "recreated/orphan"}, false},
		{"what it deletes after its owner", f.deletions, []string{"edited-and-deleted", "deleted/orphan", "deleted/unseen"}, false},
		{"which deleted dependents it creates again", f.deletedOnes, []string{"dependent-deleted", "dependent-unseen",
			"relabelled", "released-and-gone", "reference-taken-away", "recreated/orphan"}, false},
		{adopting + " objects", f.adoption, []string{"rival-for-an-orphan", "terminating-orphan", "deleted/orphan",
			"recreated/orphan"}, false},
		{editing, f.edits, []string{"edit", "removed", "scale", "replaced", "dependent-unseen"}, true},
		{"which names it gives its dependents", f.names, []string{"relabelled", "name-taken", "replaced", "deleted/orphan",
			"recreated/orphan"}, false},
		{"whether it tells owners with similar names apart", f.confused, []string{"other-namespace", "long-names"}, false},
		{"which values it chooses for each owner", f.differs, nil, false},
		{"whether all values follow an edit", f.lagging, nil, false},
	}
}

// probe finds out all facts for which there is time.
func (f *found) probe(s *operator) error {
	defer s.limit()()
	for _, p := range f.probes() {
		s.fact = p.fact
		known := len(f.unknown)
		err, over := p.look(s), s.over()
		switch {
		case err != nil && err != errLate:
			return err
		case over == errLate:
			f.lacks = append(f.lacks, p)
			f.unknown = append(f.unknown[:known], p.fact+": "+errLate.Error())
		case over != nil:
			return over
		}
	}
	return nil
}

// watch records the kinds that the controller watches, and the kinds of dependents whose events enqueue nothing.
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
			break // the queue of a program is not visible
		}
		if !wakes[gvk.Kind] && !routed(gvk) && slices.ContainsFunc(f.creates, func(c creation) bool { return c.kind == gvk }) {
			f.asleep = append(f.asleep, gvk)
		}
	}
	slices.Sort(f.watches)
}

// names finds the kinds whose dependents have fixed names. In the test, another object already has a dependent's name.
// The name is fixed if a dependent is missing afterwards, or if the controller adopts the object.
func (f *found) names(s *operator) error {
	for _, d := range f.each() {
		theirs := d.copied(d.GetName())
		theirs.SetLabels(nil)
		r, err := s.run(theirs, s.owner)
		if err != nil {
			f.doubt(naming + " a " + d.GetKind() + ": " + err.Error())
			continue
		}
		own := r.controlled(s.owner, f.owns)
		took := slices.ContainsFunc(own, func(o manifest) bool { return o.at() == d.at() })
		if f.byName = f.byName || took; took || len(own) < len(f.dependents) {
			f.fixed = append(f.fixed, d.GetKind())
		} else if !r.settled {
			f.doubt(naming + " a " + d.GetKind() + ": " + notSettled + " with an object of the same name")
		}
		r.Stop()
	}
	return nil
}

// alone finds the kinds of the operator's CRDs that a whole program reconciles even without the sample. An object of
// these kinds needs no owner, so it is no orphan.
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
			continue // the same error appears later as the reason why cases are skipped: see lookalikes
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

// defines returns a function that reports whether a manifest is the CRD of a kind.
func defines(kind schema.GroupKind) func(manifest) bool {
	return func(m manifest) bool {
		group, _, _ := unstructured.NestedString(m.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(m.Object, "spec", "names", "kind")
		return group == kind.Group && name == kind.Kind
	}
}

// The method note records what the controller did in a run: the objects that it created, with their owners, the
// finalizers that it added, and its other writes.
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
			if r.s.custom(gvk) && rec.Subresource == "status" {
				f.worksOn(r, gvk) // by convention the controller of a kind writes its status
			}
			continue
		case gvk.Kind == "Event" || gvk.Kind == "Lease":
			continue // events and leases have no owner
		case r.s.itself(rec.Object):
			f.creates = appendOnce(f.creates, creation{gvk, itself})
			continue
		}
		f.applies = f.applies || rec.Verb == "patch"
		c := creation{gvk, r.belongs(m)}
		if c.how == none && (gvk.Kind == "PersistentVolumeClaim" || gvk.Kind == "Secret" && r.s.names(m)) {
			c.how = outlives
			f.shared = appendOnce(f.shared, sim.Ref{Kind: gvk.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		if ref := metav1.GetControllerOf(m); c.how == elses && ref != nil {
			f.worksOn(r, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		}
		f.creates = appendOnce(f.creates, c)
		if c.how == refers && len(declared) == 0 {
			f.plain = append(f.plain, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		if c.how == none && len(declared) == 0 && len(m.GetOwnerReferences()) == 0 {
			f.bare = append(f.bare, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		undeclared := len(declared) == 0 && (c.how == none || c.how == refers)
		if undeclared || c.how == controls {
			f.owns = appendOnce(f.owns, gvk)
		}
	}
}

// names reports whether the spec of the sample contains the object's name. A Secret without references then outlives its
// owner, as with cert-manager: the user could have created it, other owners may use it, and it may hold the password of
// a volume. A PersistentVolumeClaim holds data, and outlives its owner as with a StatefulSet.
func (s *operator) names(m metav1.Object) bool {
	return m.GetNamespace() == s.owner.GetNamespace() && contains(s.owner.Object["spec"], m.GetName())
}

// contains reports whether text is a value in v, which consists of maps, slices and scalars.
func contains(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if contains(x, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return contains(x, text) })
	}
	return v == text
}

// outliving lists the kinds of which each object without references may outlive its owner.
func (f *found) outliving() (kinds []schema.GroupVersionKind) {
	for _, c := range f.creates {
		if c.how == outlives && !slices.Contains(f.creates, creation{c.kind, none}) {
			kinds = append(kinds, c.kind)
		}
	}
	return kinds
}

// worksOn records another kind that the program reconciles.
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

// belongs returns how a created object refers to the owner.
func (r *quiet) belongs(m metav1.Object) string {
	owner, stored := r.s.owner, r.stored(r.s.owner)
	above := metav1.GetControllerOf(m)
	if r.s.Controller.Hosted() && above != nil && above.Kind != owner.GetKind() && r.shows(above.Kind) &&
		r.resolve(above, m.GetNamespace()) != nil {
		if gvk := schema.FromAPIVersionAndKind(above.APIVersion, above.Kind); r.s.custom(gvk) || !r.below(above, m.GetNamespace()) {
			return elses
		}
		return chained
	}
	if owner.GetNamespace() != "" && m.GetNamespace() != owner.GetNamespace() {
		if stored != nil && metav1.IsControlledBy(m, stored.(metav1.Object)) {
			return controls // LAW-1 reports that the owner is in another namespace
		}
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
	if r.below(above, m.GetNamespace()) {
		return chained
	}
	return none
}

// below reports whether a ControllerRef refers to a stored object that the sample controls.
func (r *quiet) below(ref *metav1.OwnerReference, namespace string) bool {
	above, owner := r.resolve(ref, namespace), r.stored(r.s.owner)
	return above != nil && owner != nil && metav1.IsControlledBy(above, owner.(metav1.Object))
}
