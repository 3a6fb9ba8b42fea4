package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// refState says where an owner reference leads.
type refState uint8

const (
	absent  refState = iota // no such owner
	foreign                 // the owner is in another namespace, which counts as absent (GC-7)
	waiting                 // the owner waits for the deletion of its dependents
	solid                   // the owner exists
)

// refState resolves an owner reference of an object in a namespace.
func (s *stored) refState(ref *metav1.OwnerReference, namespace string) refState {
	o := s.byUID[ref.UID]
	switch {
	case o == nil || o.Ref.Kind != ref.Kind || o.Ref.Name != ref.Name:
		return absent
	case o.Ref.Namespace != "" && o.Ref.Namespace != namespace:
		return foreign
	case meta.Foreground(o.Meta):
		return waiting
	}
	return solid
}

// reaches reports whether an owner reference leads to an existing owner in reach.
func (s *stored) reaches(ref *metav1.OwnerReference, namespace string) bool {
	return ref != nil && s.refState(ref, namespace) > foreign
}

// refStates counts an object's owner references by state.
type refStates struct{ absent, foreign, waiting, solid int }

func (s *State) refStates(o *Object) refStates { return s.refStatesOf(o.Meta) }

func (s *State) refStatesOf(m metav1.Object) refStates {
	var st refStates
	refs := m.GetOwnerReferences()
	for i := range refs {
		switch s.refState(&refs[i], m.GetNamespace()) {
		case absent:
			st.absent++
		case foreign:
			st.foreign++
		case waiting:
			st.waiting++
		case solid:
			st.solid++
		}
	}
	return st
}

// eachOwned calls f for every stored object that has owner references, is not terminating, and whose references can
// all be resolved by the collector.
func (j *Judge) eachOwned(f func(o *Object, st refStates)) {
	watched := j.survey().collector.Actor.Owns
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !among(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if len(o.Meta.GetOwnerReferences()) > 0 && !meta.Deleting(o.Meta) && j.resolvable(o) {
				f(o, j.state.refStates(o))
			}
		}
	}
}

// eachDangling counts each of them as exercised, and calls f for those with an absent owner.
func (j *Judge) eachDangling(f func(o *Object, st refStates)) {
	j.eachOwned(func(o *Object, st refStates) {
		j.Ask()
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

// resolvable reports whether it can be told which of an object's owners exist. It cannot if the server does not
// know the kind of an owner, or if a cluster-scoped object refers to a namespaced kind (RULES K93, K96). The
// collector leaves such objects alone.
func (j *Judge) resolvable(o *Object) bool {
	refs := o.Meta.GetOwnerReferences()
	for i := range refs {
		namespaced, served := j.Kinds(refs[i].APIVersion, refs[i].Kind)
		if !served || namespaced && o.Ref.Namespace == "" {
			return false
		}
	}
	return true
}

// served reports whether the server serves objects of this object's kind at present. A CRD may have stopped serving
// their version.
func (j *Judge) served(o *Object) bool {
	obj, ok := o.Value.(runtime.Object)
	if !ok {
		return true
	}
	version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	_, served := j.Kinds(version, kind)
	return kind == "" || served
}
