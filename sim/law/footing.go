package law

import (
	"slices"

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
func (s *State) footing(ref *metav1.OwnerReference, namespace string) footing {
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

// eachOwned calls f for every stored object with owner references that the
// collector works on and that is not being deleted, where all of them can be
// resolved.
func (j *Judge) eachOwned(f func(o *Object, st standing)) {
	watched := j.survey().collector.Subject.Dependents
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !slices.Contains(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if len(o.Meta.GetOwnerReferences()) > 0 && !meta.Deleting(o.Meta) && j.resolvable(o) {
				f(o, j.state.standing(o))
			}
		}
	}
}

// eachDangling asks about all that eachOwned finds, and calls f for those one of
// whose owners is absent.
func (j *Judge) eachDangling(f func(o *Object, st standing)) {
	j.eachOwned(func(o *Object, st standing) {
		j.Ask()
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

// resolvable reports whether it can be told which of an object's owners are
// there. A reference to a kind that the server does not know can't be resolved,
// as the kind may come to be served, and neither can one of a cluster-scoped
// object to a kind of namespaced ones, as nobody knows where to look (RULES K93,
// K96): what has such a reference is left alone.
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
