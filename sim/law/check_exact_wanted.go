// Check of EXACT-2 for owners that want dependents by name ([Contract].Wanted).

package law

import (
	"k8s.io/apimachinery/pkg/types"
	"strconv"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// askedFor reports whether the owner wants this dependent: by every version of the owner that the worker may use if
// every is set, and by any of them otherwise.
func (w *Write) askedFor(k *work, r *sim.Record, dependent any, every bool) bool {
	if w.Actor.Wanted == nil {
		return true
	}
	is := w.Actor.Wanted(objectOf(r.SawFor), objectOf(dependent))
	w.process.owners(k, func(owner any) {
		if w.Actor.Wanted(objectOf(owner), objectOf(dependent)) != every {
			is = !every
		}
	})
	return is
}

// neverUnasked checks EXACT-2 for an owner that wants dependents by name: the created one is wanted, and not too
// many wanted ones exist.
func (j *Judge) neverUnasked(r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if k := w.counting(r); k != nil {
		if !w.askedFor(k, r, r.After, false) {
			j.Report(Informed, "is none that "+r.For.String()+" asks for")
			return
		}
		roof := sub.roof(r.SawFor)
		w.process.owners(k, func(owner any) { roof = max(roof, sub.roof(owner)) })
		if n := w.knownWanted(k, r) + 1; roof >= 0 && n > roof && j.state.wanted(sub, k.owner, r.SawFor) >= roof {
			j.Report(Informed, "brings those that "+r.For.String()+" asks for to "+strconv.Itoa(n)+", it wants "+
				strconv.Itoa(roof))
			return
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) {
		return
	}
	if !sub.Wanted(objectOf(o.Value), objectOf(r.After)) {
		j.Report(Committed, "is none that "+r.For.String()+" asks for by now")
		return
	}
	if n, roof := j.state.wanted(sub, uidOf(r.For), o.Value)+1, sub.roof(o.Value); roof >= 0 && n > roof {
		j.Report(Committed, "brings those that "+r.For.String()+" asks for to "+strconv.Itoa(n)+", it wants "+
			strconv.Itoa(roof))
	}
}

// wanted counts the owner's stored active dependents that a version of the owner wants.
func (s *State) wanted(sub *Actor, owner types.UID, version any) int {
	n := 0
	for _, o := range s.Dependents(owner) {
		if s.isActiveOf(sub, owner, o) && sub.Wanted(objectOf(version), objectOf(o.Value)) {
			n++
		}
	}
	return n
}

// knownWanted counts the wanted dependents that the worker must know of: shown before its sync began, or created by
// its process.
func (w *Write) knownWanted(k *work, r *sim.Record) int {
	n := 0
	for _, e := range w.process.known.Members(k.owner) {
		mine := e.Ahead && e.Cached == nil
		if e.Active && (mine || !e.Ahead && e.Since < k.begun) && w.askedFor(k, r, e.Value, true) {
			n++
		}
	}
	return n
}
