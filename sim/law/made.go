package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// made are objects of kinds that are not followed otherwise, which a process created and has
// not been shown since: it takes them to be there, and may be wrong (EXACT-9).
type made []making

type making struct {
	at    coords
	value runtime.Object // as it was created
}

// note takes in a commit of the process's own.
func (m *made) note(p *process, r *sim.Record, w *Write) {
	if p.Actor.moments&BeforeCreate == 0 || w.Before != nil || w.After == nil || r.Incarnation != p.incarnation ||
		p.follows(r.Object.Kind) {
		return
	}
	m.shown(r.Object)
	*m = append(*m, making{coordsOf(r.Object), objectOf(r.After)})
}

// shown forgets what the process is shown, or told otherwise.
func (m *made) shown(what sim.Ref) {
	at := coordsOf(what)
	*m = slices.DeleteFunc(*m, func(x making) bool { return x.at == at })
}

// gap forgets a kind that is listed anew, unless a sync is under way: that may have looked
// before.
func (m *made) gap(p *process, kind string) {
	if slices.ContainsFunc(p.workers, func(k work) bool { return k.busy }) {
		return
	}
	*m = slices.DeleteFunc(*m, func(x making) bool { return x.at.kind == kind })
}

// of are the values of a kind.
func (m made) of(kind string) (all []runtime.Object) {
	for _, x := range m {
		if x.at.kind == kind {
			all = append(all, x.value)
		}
	}
	return all
}

// digest tells of which there are.
func (m made) digest() (sum uint64) {
	for _, x := range m {
		var h sim.Hash
		h.String(x.at.kind)
		h.String(x.at.namespace)
		h.String(x.at.name)
		sum += sim.Mix(uint64(h))
	}
	return sum
}

func coordsOf(r sim.Ref) coords { return coords{r.Kind, r.Namespace, r.Name} }
