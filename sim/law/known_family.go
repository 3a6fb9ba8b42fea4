package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// leave takes an object out of its owner's family.
func (n *known) leave(e *sight) {
	f := n.families[e.owner]
	if e.owner == "" || f == nil {
		return
	}
	last := len(f.members) - 1
	f.members[e.slot] = f.members[last]
	f.members[e.slot].slot = e.slot
	f.members[last] = nil
	f.members = f.members[:last]
	if e.active {
		f.active--
	}
}

// join puts it into its new owner's.
func (n *known) join(e *sight) {
	if e.owner == "" {
		return
	}
	f := n.families[e.owner]
	if f == nil {
		f = &family{members: make([]*sight, 0, 4)}
		n.families[e.owner] = f
	}
	e.slot = len(f.members)
	f.members = append(f.members, e)
	if e.active {
		f.active++
	}
}

// moved tells the workers at an owner of one dependent more or less that counts.
func (p *Process) moved(owner types.UID, active bool, by int, doer *work) {
	if owner == "" || !active {
		return
	}
	for i := range p.workers {
		k := &p.workers[i]
		switch {
		case k.owner != owner:
		case k == doer:
			k.own += by
		case by > 0:
			k.more++
		default:
			k.fewer++
		}
	}
}

// counts reports whether an object is an active dependent.
func (s *Subject) counts(value any, m metav1.Object) bool {
	return !deleting(m) && (s.Active == nil || s.Active(value))
}

// digest folds what the world's own state does not tell of a process's
// knowledge: what it knows from answers alone, what it has been shown during the
// syncs at work, and which objects earlier lives were shown in newer versions.
func (n *known) digest(s *State) uint64 {
	var sum uint64
	for uid, e := range n.byUID {
		var h sim.Hash
		h.Word(digestUID(uid))
		h.Word(digestUID(e.owner))
		h.Bool(e.active)
		h.Bool(e.ahead)
		h.Bool(e.removed)
		h.Bool(e.value == nil)
		sum += sim.Mix(uint64(h))
	}
	for i := range n.journal {
		sum += digestPair(n.journal[i].uid, n.journal[i].owner, 0)
	}
	for uid, version := range n.past {
		if o := s.byUID[uid]; o != nil {
			sum += digestPair(uid, "past", versionOf(o.Meta)-version)
		}
	}
	return sum
}
