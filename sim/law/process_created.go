package law

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// createdUnseen holds objects that a process created and has not been shown since, for kinds that are not followed
// otherwise. The process takes them to exist, and may be wrong (EXACT-9).
type createdUnseen []created

type created struct {
	at    coords
	value runtime.Object // as it was created
}

// note records a commit of the process.
func (m *createdUnseen) note(p *process, r *sim.Record, w *Write) {
	if p.Actor.moments&BeforeCreate == 0 || w.Before != nil || w.After == nil || r.Incarnation != p.incarnation ||
		p.follows(r.Object.Kind) {
		return
	}
	m.shown(r.Object)
	*m = append(*m, created{coordsOf(r.Object), objectOf(r.After)})
}

// shown forgets an object that the process is shown, or that an answer tells it about.
func (m *createdUnseen) shown(what sim.Ref) {
	at := coordsOf(what)
	*m = slices.DeleteFunc(*m, func(x created) bool { return x.at == at })
}

// gap forgets the objects of a kind that is listed again, unless a sync is under way, which may have looked before.
func (m *createdUnseen) gap(p *process, kind string) {
	if slices.ContainsFunc(p.workers, func(k work) bool { return k.busy }) {
		return
	}
	*m = slices.DeleteFunc(*m, func(x created) bool { return x.at.kind == kind })
}

// of returns the objects of a kind.
func (m createdUnseen) of(kind string) (all []runtime.Object) {
	for _, x := range m {
		if x.at.kind == kind {
			all = append(all, x.value)
		}
	}
	return all
}

// digest hashes which objects there are.
func (m createdUnseen) digest() (sum uint64) {
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

// try is what an owner retries when its failed dependent is replaced.
type try struct {
	owner types.UID
	what  string
}

// digestTries hashes recent retries.
func digestTries(tried map[try]time.Duration, now time.Duration) uint64 {
	var sum uint64
	for t, at := range tried { //detcheck:ordered a sum
		if now-at < view.Brief {
			var h sim.Hash
			h.String(string(t.owner))
			h.String(t.what)
			h.Word(uint64(now - at))
			sum += sim.Mix(uint64(h))
		}
	}
	return sum
}
