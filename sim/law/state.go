package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// State holds what follows from the records so far. Any check may read the stored objects. What each process knows and
// does is only for the checks of this package.
type State struct {
	stored // the stored objects, with look-up methods

	processes           []*process
	byProcess           map[string]*process
	last                *process // the last result of the method process; nil for none
	selectors           map[selecting]labels.Selector
	orphanings          orphanings
	missingNamed        missingNamed
	everOwned           everOwned
	recentlyDeleted     recentlyDeleted
	uncertainCounts     uncertainCounts
	forbidden           forbidden
	spared              forbidden           // objects that the server refuses to delete
	deletedSinceSettled deletedSinceSettled // nil in a world without whole programs

	others map[string]bool // finalizers that the user has added to existing objects

	epoch     int  // increases at each write of the user, era switch, server upgrade and server downgrade
	dropping  bool // the server drops the controller field of owner references
	restarted bool // a process crashed or restarted in this epoch
}

const selectorCache = 4096

// selecting is the key of a cached selector. It includes the actor, because two controllers may reconcile the same
// kind, and two eras may read selectors differently.
type selecting struct {
	sub   *Actor
	owner any
}

func (s *State) init() {
	s.stored = newStored()
	s.byProcess = map[string]*process{}
	s.others = map[string]bool{}
	s.selectors = map[selecting]labels.Selector{}
	s.orphanings.byObject = map[types.UID][]orphaning{}
}

func (s *State) reset() {
	s.stored.reset()
	clear(s.selectors)
	clear(s.others)
	clear(s.orphanings.byObject)
	s.missingNamed.reset()
	clear(s.everOwned.had)
	clear(s.uncertainCounts)
	clear(s.forbidden)
	clear(s.spared)
	clear(s.recentlyDeleted.gone)
	clear(s.deletedSinceSettled)
	for _, p := range s.processes {
		p.restart(0)
		p.forgetRun()
	}
	s.epoch, s.restarted, s.dropping = 0, false, false
}

func (s *State) addActor(sub Actor) {
	s.everOwned.know(&sub)
	sub.moments = sub.when()
	for _, v := range sub.Invariants {
		s.recentlyDeleted.long = max(s.recentlyDeleted.long, v.Recent)
	}
	if sub.Opaque && !sub.Outside && s.deletedSinceSettled == nil {
		s.deletedSinceSettled = deletedSinceSettled{}
	}
	if p := s.byProcess[sub.Process]; p != nil {
		p.Actor = sub
		clear(s.selectors)
		return
	}
	p := &process{Actor: sub, early: -1, known: view.NewKnown(), queue: view.NewQueue(), met: map[view.Key]bool{},
		puts: map[string]bool{}, includes: map[string]bool{}}
	if sub.moments&AtWrite != 0 && (sub.For.Kind == "" || len(sub.MayEdit) > 0) {
		p.lookups = map[coords]lookup{}
	}
	if sub.Controller == collector {
		p.gone, p.lookups, p.cut = map[types.UID]bool{}, map[coords]lookup{}, map[types.UID]cut{}
	}
	s.processes = append(s.processes, p)
	s.byProcess[sub.Process] = p
}

func (s *State) process(name string) *process {
	if s.last == nil || s.last.Actor.Process != name {
		s.last = s.byProcess[name]
	}
	return s.last
}

func (s *State) subjectFor(kind string) *Actor {
	for _, p := range s.processes {
		if p.Actor.For.Kind == kind {
			return &p.Actor
		}
	}
	return nil
}

// selector returns the selector of one version of an owner, according to the actor's contract.
func (s *State) selector(sub *Actor, owner any) labels.Selector {
	if sub.Selector == nil {
		return nil
	}
	key := selecting{sub, owner}
	if sel, ok := s.selectors[key]; ok {
		return sel
	}
	if len(s.selectors) >= selectorCache {
		clear(s.selectors)
	}
	sel := sub.Selector(objectOf(owner))
	s.selectors[key] = sel
	return sel
}

// Selects reports whether an owner's selector matches an object. A namespaced owner selects only in its namespace.
func (s *State) Selects(sub *Actor, owner any, object metav1.Object) bool {
	if ns := meta.Of(owner).GetNamespace(); ns != "" && ns != object.GetNamespace() {
		return false
	}
	sel := s.selector(sub, owner)
	return sel != nil && sel.Matches(labels.Set(object.GetLabels()))
}

func (s *State) terminating(namespace string) bool {
	ns := s.Named("Namespace", "", namespace)
	return ns != nil && meta.Deleting(ns.Meta)
}

func (s *State) values(kind string) []runtime.Object {
	var all []runtime.Object
	for _, o := range s.Kind(kind) {
		all = append(all, objectOf(o.Value))
	}
	return all
}

func (s *State) get(kind, namespace, name string) runtime.Object {
	if o := s.Named(kind, namespace, name); o != nil {
		return objectOf(o.Value)
	}
	return nil
}

// everOwned counts all dependents that an owner has ever had, for kinds with a status that also counts deleted
// dependents. The number in the status may not exceed this count (EXACT-8).
type everOwned struct {
	kinds []string
	had   map[types.UID]int // UID of the owner -> number, including increases of the status by other clients
}

func (e *everOwned) know(sub *Actor) {
	if slices.ContainsFunc(sub.Counts, func(c Count) bool { return c.Ever }) && !slices.Contains(e.kinds, sub.For.Kind) {
		e.kinds = append(e.kinds, sub.For.Kind)
	}
}

func (e *everOwned) fold(s *State, r *sim.Record, w *Write) {
	if len(e.kinds) == 0 || w.After == nil {
		return
	}
	if ref := w.NewOwner; ref != nil && !meta.SameRef(w.Owner, ref) && slices.Contains(e.kinds, ref.Kind) {
		e.more(ref.UID, 1)
	}
	if !slices.Contains(e.kinds, r.Object.Kind) || w.process != nil && w.process.Actor.For.Kind == r.Object.Kind {
		return
	}
	for _, p := range s.processes {
		if p.Actor.For.Kind == r.Object.Kind {
			e.more(w.After.GetUID(), p.Actor.told(r.Before, r.After))
			return
		}
	}
}

// told returns how much a write increases the counts with Ever set. If there are several, the largest increase counts.
func (s *Actor) told(before, after any) (n int) {
	for i := range s.Counts {
		c, was := &s.Counts[i], 0
		if !c.Ever {
			continue
		}
		if before != nil {
			was = max(c.Of(objectOf(before)), 0)
		}
		n = max(n, c.Of(objectOf(after))-was)
	}
	return n
}

func (e *everOwned) more(owner types.UID, n int) {
	if n <= 0 {
		return
	}
	if e.had == nil {
		e.had = map[types.UID]int{}
	}
	e.had[owner] += n
}

func (e *everOwned) digest() uint64 {
	var sum uint64
	for owner, n := range e.had { //detcheck:ordered a sum
		sum += digestPair(owner, "ever", uint64(n))
	}
	return sum
}

// uncertainCounts holds owners whose status a restarted process wrote before it had received all dependents. No later
// incarnation can know what that process counted. Violations about such counts are only Committed (EXACT-8,
// EXACT-12).
type uncertainCounts map[types.UID]bool

// fold adds an owner in two cases. The process writes a status that it guesses (see guesses). Or it removes a finalizer
// from a dependent while its cache lacks the owner.
func (v *uncertainCounts) fold(s *State, r *sim.Record, w *Write) {
	p := w.process
	if p == nil || p.incarnation == 0 || w.After == nil || !slices.ContainsFunc(p.Actor.Counts, forGood) {
		return
	}
	switch {
	case r.Object.Kind == p.Actor.For.Kind:
		if s.guesses(p, r, w.After.GetUID()) {
			v.put(w.After.GetUID())
		}
	case w.Owner != nil && w.Owner.Kind == p.Actor.For.Kind && p.manages(r.Object.Kind) && letsGo(&p.Actor, w) &&
		meta.SameRef(w.SawOwner, w.Owner) && p.resolve(w.Owner, r.Object.Namespace) == "":
		v.put(w.Owner.UID)
	}
}

func (v *uncertainCounts) put(owner types.UID) {
	if *v == nil {
		*v = uncertainCounts{}
	}
	(*v)[owner] = true
}

func (v uncertainCounts) digest() (sum uint64) {
	for owner := range v { //detcheck:ordered a sum
		sum += digestPair(owner, "uncertainCounts", 0)
	}
	return sum
}

// forGood reports whether a count includes deleted dependents.
func forGood(c Count) bool { return c.Once || c.Ever }

// guesses reports whether a count in a process's write may be wrong. The process has restarted and not yet received all
// dependents of the owner, or it continues an uncertain count of an earlier incarnation.
func (s *State) guesses(p *process, r *sim.Record, owner types.UID) bool {
	return s.uncertainCounts[owner] || p.incarnation > 0 && p.behind(s, r, owner)
}

// behind reports whether, at the start of its reconcile, the process lacked the current version of some dependent of
// the owner. Such a process cannot know what an earlier incarnation has counted.
func (p *process) behind(s *State, r *sim.Record, owner types.UID) bool {
	k := p.work(r)
	for _, gvk := range p.Actor.Owns {
		if k != nil && k.begun > 0 && p.Cache(gvk.Kind).Changed > k.begun {
			return true
		}
	}
	for _, e := range p.known.Members(owner) {
		o := s.Object(e.UID)
		if o == nil || e.Meta == nil || meta.Version(o.Meta) != meta.Version(e.Meta) {
			return true
		}
	}
	return slices.ContainsFunc(s.Dependents(owner), func(o *Object) bool {
		return p.manages(o.Ref.Kind) && p.known.ByUID[o.Meta.GetUID()] == nil
	})
}
