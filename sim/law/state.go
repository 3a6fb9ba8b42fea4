package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// State is what the records so far add up to, not the state of any server: the objects
// that are stored, which any check may read, and for the checks of this package what
// each process was shown and is doing, what was promised and what was taken.
type State struct {
	stored // the methods that look objects up

	processes []*process
	byProcess map[string]*process
	last      *process // that was asked for; nil for none
	selectors map[selecting]labels.Selector
	promises  promises
	taken     taken
	ever      ever
	lately    lately
	vague     vague
	forbidden forbidden
	spared    forbidden // objects that the server forbids somebody to delete
	parted    parted    // nil where no program is asked

	epoch     int  // user actions and switches of era so far
	dropping  bool // the server is of a version that does not know the controller field
	restarted bool // a process crashed or restarted since the last of them
}

const selectorCache = 4096

// selecting is one version of an owner as one subject reads it: two controllers may
// sync a kind, and one era may read another selector than the next.
type selecting struct {
	sub   *Actor
	owner any
}

func (s *State) init() {
	s.stored = newStored()
	s.byProcess = map[string]*process{}
	s.selectors = map[selecting]labels.Selector{}
	s.promises.byObject = map[types.UID][]promise{}
}

func (s *State) reset() {
	s.stored.reset()
	clear(s.selectors)
	clear(s.promises.byObject)
	s.taken.reset()
	clear(s.ever.had)
	clear(s.vague)
	clear(s.forbidden)
	clear(s.spared)
	clear(s.lately.gone)
	clear(s.parted)
	for _, p := range s.processes {
		p.restart(0)
		p.forgetRun()
	}
	s.epoch, s.restarted, s.dropping = 0, false, false
}

func (s *State) addActor(sub Actor) {
	s.ever.know(&sub)
	sub.moments = sub.when()
	for _, v := range sub.Invariants {
		s.lately.long = max(s.lately.long, v.Recent)
	}
	if sub.Opaque && !sub.Outside && s.parted == nil {
		s.parted = parted{}
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

// process returns a subject's process, nil for one that is no subject.
func (s *State) process(name string) *process {
	if s.last == nil || s.last.Actor.Process != name {
		s.last = s.byProcess[name]
	}
	return s.last
}

// subjectFor is the first subject that syncs a kind, nil for none.
func (s *State) subjectFor(kind string) *Actor {
	for _, p := range s.processes {
		if p.Actor.For.Kind == kind {
			return &p.Actor
		}
	}
	return nil
}

// selector is a subject's selector of one version of an owner.
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

// Selects reports whether an owner's selector matches an object in a namespace
// the owner reaches.
func (s *State) Selects(sub *Actor, owner any, object metav1.Object) bool {
	if ns := meta.Of(owner).GetNamespace(); ns != "" && ns != object.GetNamespace() {
		return false
	}
	sel := s.selector(sub, owner)
	return sel != nil && sel.Matches(labels.Set(object.GetLabels()))
}

// terminating reports whether a namespace is going away.
func (s *State) terminating(namespace string) bool {
	ns := s.Named("Namespace", "", namespace)
	return ns != nil && meta.Deleting(ns.Meta)
}

// values are the stored objects of a kind.
func (s *State) values(kind string) []runtime.Object {
	var all []runtime.Object
	for _, o := range s.Kind(kind) {
		all = append(all, objectOf(o.Value))
	}
	return all
}

// get is the stored object of a name; nil for none.
func (s *State) get(kind, namespace, name string) runtime.Object {
	if o := s.Named(kind, namespace, name); o != nil {
		return objectOf(o.Value)
	}
	return nil
}
