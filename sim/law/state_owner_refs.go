package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
