package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// State is what the records so far add up to: the stored objects, which any check may read, and for the checks of
// this package what each process was shown and is doing.
type State struct {
	stored // look-up methods

	processes           []*process
	byProcess           map[string]*process
	last                *process // the last result of process; nil for none
	selectors           map[selecting]labels.Selector
	orphanings          orphanings
	missingNamed        missingNamed
	everOwned           everOwned
	recentlyDeleted     recentlyDeleted
	uncertainCounts     uncertainCounts
	forbidden           forbidden
	spared              forbidden           // objects whose deletion the server forbids
	deletedSinceSettled deletedSinceSettled // nil without programs

	epoch     int  // number of user actions and era switches so far
	dropping  bool // the server's version does not know the controller field
	restarted bool // a process crashed or restarted in this epoch
}

const selectorCache = 4096

// selecting is the key of a cached selector: two controllers may sync a kind, and two eras may read different
// selectors.
type selecting struct {
	sub   *Actor
	owner any
}

func (s *State) init() {
	s.stored = newStored()
	s.byProcess = map[string]*process{}
	s.selectors = map[selecting]labels.Selector{}
	s.orphanings.byObject = map[types.UID][]orphaning{}
}

func (s *State) reset() {
	s.stored.reset()
	clear(s.selectors)
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
	p := &process{Actor: sub, early: -1, known: view.NewKnown(), queue: view.NewQueue(), met: map[view.Key]bool{}}
	if sub.moments&AtWrite != 0 && (sub.For.Kind == "" || len(sub.MayEdit) > 0) {
		p.lookups = map[coords]lookup{}
	}
	if sub.Controller == collector {
		p.gone, p.lookups, p.cut = map[types.UID]bool{}, map[coords]lookup{}, map[types.UID]cut{}
	}
	s.processes = append(s.processes, p)
	s.byProcess[sub.Process] = p
}

// process returns the process of an actor by name, or nil.
func (s *State) process(name string) *process {
	if s.last == nil || s.last.Actor.Process != name {
		s.last = s.byProcess[name]
	}
	return s.last
}

// subjectFor returns the first actor that syncs a kind, or nil.
func (s *State) subjectFor(kind string) *Actor {
	for _, p := range s.processes {
		if p.Actor.For.Kind == kind {
			return &p.Actor
		}
	}
	return nil
}

// selector returns the selector of one version of an owner, by an actor's contract.
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

// Selects reports whether an owner's selector matches an object. A namespaced owner selects in its namespace only.
func (s *State) Selects(sub *Actor, owner any, object metav1.Object) bool {
	if ns := meta.Of(owner).GetNamespace(); ns != "" && ns != object.GetNamespace() {
		return false
	}
	sel := s.selector(sub, owner)
	return sel != nil && sel.Matches(labels.Set(object.GetLabels()))
}

// terminating reports whether a namespace is being deleted.
func (s *State) terminating(namespace string) bool {
	ns := s.Named("Namespace", "", namespace)
	return ns != nil && meta.Deleting(ns.Meta)
}

// values returns the stored objects of a kind.
func (s *State) values(kind string) []runtime.Object {
	var all []runtime.Object
	for _, o := range s.Kind(kind) {
		all = append(all, objectOf(o.Value))
	}
	return all
}

// get returns the stored object of a name, or nil.
func (s *State) get(kind, namespace, name string) runtime.Object {
	if o := s.Named(kind, namespace, name); o != nil {
		return objectOf(o.Value)
	}
	return nil
}
