package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	others     []manifest // what it controls of kinds that the controller does not own: another controller has created it
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
	breaks   *edit   // the removal of an optional field without which the controller panics; or nil
	keeps    *kept   // values that dependents wrongly keep after the removal of an optional field; or nil
	renamed  *kept   // dependents whose names contain an edited text and that wrongly keep the old one; or nil
	partly   *behind // an edit that the dependents follow only in part; or nil
	history  []*edit // edits and removals after which the number of dependents depends on earlier edits too
	untried  int     // number of fields that were not edited
	fights   *edit   // an edit after which the controller keeps writing and never settles
	strands  *edit   // an edit after which the deleted sample stays terminating, or leaves a finalizer or an object; or nil
	undone   bool    // strands is undone before the deletion
	waits    []*edit // edits after which the controller retries forever without writing
	wants    *wants
	surges   bool                                      // in a quiet run, the sample had more active dependents than before and after
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
	f.others = r.controlled(s.owner, slices.DeleteFunc(r.kinds(), func(gvk schema.GroupVersionKind) bool { return slices.Contains(f.owns, gvk) }))
	f.surge(r)
	if err := f.shares(s); err != nil {
		return nil, err
	}
	if err := f.tends(s); err != nil {
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
	if idle := r.lacks(); idle != nil && !(idle.Ends && s.Ends) {
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
