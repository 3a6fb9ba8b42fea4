package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// footing is what an owner reference rests on.
type footing uint8

const (
	absent  footing = iota // no such owner, or out of reach
	foreign                // the owner is in another namespace: as good as absent (GC-7)
	waiting                // the owner waits for its dependents to go
	solid                  // the owner is there
)

// footing looks an owner reference of an object in a namespace up.
func (s *stored) footing(ref *metav1.OwnerReference, namespace string) footing {
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

// reaches reports whether an owner reference of an object in a namespace leads to its owner.
func (s *stored) reaches(ref *metav1.OwnerReference, namespace string) bool {
	return ref != nil && s.footing(ref, namespace) > foreign
}

// standing counts an object's owner references by footing.
type standing struct{ absent, foreign, waiting, solid int }

func (s *State) standing(o *Object) standing { return s.standingOf(o.Meta) }

func (s *State) standingOf(m metav1.Object) standing {
	var st standing
	refs := m.GetOwnerReferences()
	for i := range refs {
		switch s.footing(&refs[i], m.GetNamespace()) {
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
