package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// State is the world as the records tell it: what is stored, what each subject
// has been shown, and what it is doing.
type State struct {
	byUID   map[types.UID]*Object
	byName  map[coords]*Object
	kinds   []*kindList
	owned   map[types.UID]*dependents
	spare   []*Object
	spareDs []*dependents
	spareKs []*kindList

	processes []*Process
	byProcess map[string]*Process
	last      *Process // that was asked for; nil for none
	selectors map[any]labels.Selector
	promises  promises
	taken     taken

	epoch     int  // user actions and switches of generation so far
	dropping  bool // the server is of a version that does not know the controller field
	restarted bool // a process crashed or restarted since the last of them
}

// Object is a stored object. The pointer is good until the object is removed.
type Object struct {
	Ref   sim.Ref
	Value any           // the stored version
	Meta  metav1.Object // the same
	slot  int           // in the list of its kind
	maker *Process      // who created it; nil for somebody who is no subject
}

type coords struct{ kind, namespace, name string }

type kindList struct {
	kind    string
	objects []*Object
}

// dependents are the objects with a reference to one owner, present or absent.
type dependents struct{ objects []*Object }

const selectorCache = 4096

func (s *State) init() {
	s.byUID = map[types.UID]*Object{}
	s.byName = map[coords]*Object{}
	s.owned = map[types.UID]*dependents{}
	s.byProcess = map[string]*Process{}
	s.selectors = map[any]labels.Selector{}
	s.promises.byObject = map[types.UID][]promise{}
}

func (s *State) reset() {
	for _, l := range s.kinds {
		s.spare = append(s.spare, l.objects...)
		clear(l.objects)
		l.objects = l.objects[:0]
	}
	s.spareKs = append(s.spareKs, s.kinds...)
	s.kinds = s.kinds[:0]
	clear(s.byUID)
	clear(s.byName)
	clear(s.owned)
	clear(s.selectors)
	clear(s.promises.byObject)
	s.taken.reset()
	for _, p := range s.processes {
		p.restart(0)
		p.forgetRun()
	}
	s.epoch, s.restarted, s.dropping = 0, false, false
}

// Object returns the stored object with that uid, nil when there is none.
func (s *State) Object(uid types.UID) *Object { return s.byUID[uid] }

// Named returns the stored object of that name, nil when there is none.
func (s *State) Named(kind, namespace, name string) *Object {
	return s.byName[coords{kind, namespace, name}]
}

// Kind lists the stored objects of a kind, in an order that depends on the
// history only. The slice is the state's own.
func (s *State) Kind(kind string) []*Object {
	for _, l := range s.kinds {
		if l.kind == kind {
			return l.objects
		}
	}
	return nil
}

// Dependents lists the stored objects that have an owner reference with that
// uid, whether or not such an owner exists. The slice is the state's own.
func (s *State) Dependents(owner types.UID) []*Object {
	if d := s.owned[owner]; d != nil {
		return d.objects
	}
	return nil
}

// Process returns a subject's process, nil for one that is no subject.
func (s *State) Process(name string) *Process {
	if s.last == nil || s.last.Subject.Process != name {
		s.last = s.byProcess[name]
	}
	return s.last
}

// Processes are the subjects' processes in the order in which they were named.
func (s *State) Processes() []*Process { return s.processes }

// selector is a subject's selector of one version of an owner.
func (s *State) selector(sub *Subject, owner any) labels.Selector {
	if sel, ok := s.selectors[owner]; ok {
		return sel
	}
	if sub.Selector == nil {
		return nil
	}
	if len(s.selectors) >= selectorCache {
		clear(s.selectors)
	}
	sel := sub.Selector(owner)
	s.selectors[owner] = sel
	return sel
}

// Selects reports whether an owner's selector matches an object in a namespace
// the owner reaches.
func (s *State) Selects(sub *Subject, owner any, object metav1.Object) bool {
	if ns := meta(owner).GetNamespace(); ns != "" && ns != object.GetNamespace() {
		return false
	}
	sel := s.selector(sub, owner)
	return sel != nil && sel.Matches(labels.Set(object.GetLabels()))
}

// terminating reports whether a namespace is going away.
func (s *State) terminating(namespace string) bool {
	ns := s.Named("Namespace", "", namespace)
	return ns != nil && deleting(ns.Meta)
}
