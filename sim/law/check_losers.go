// Check of ADOPT-6.

package law

import (
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

type losers struct {
	opSet
	j    *Judge
	lost map[race]bool
}

func newLosers(j *Judge) Check {
	return &losers{opSet: ops(sim.Commit, sim.Refusal), j: j, lost: map[race]bool{}}
}

func (l *losers) Reset() { clear(l.lost) }

func (l *losers) Digest(h *sim.Hash) {
	var sum uint64
	for r := range l.lost { //detcheck:ordered a sum
		sum += digestPair(r.object, r.owner, 0)
	}
	h.Word(sum)
}

func (l *losers) Record(r *sim.Record) {
	if r.Op == sim.Refusal {
		l.refused(r)
		return
	}
	w := &l.j.write
	if len(l.lost) == 0 || w.Before == nil || w.Actor == nil || !w.Dependent || w.Mine {
		return
	}
	at := race{w.Before.GetUID(), uidOf(r.For)}
	if !l.lost[at] {
		return
	}
	l.j.Exercise()
	if w.harmless(r) {
		return
	}
	s := committedIf(w.SawMine)
	l.j.Report(s, r.For.String()+" lost the race for it, "+ownedBy(w.Owner))
}

func (l *losers) refused(r *sim.Record) {
	p := l.j.state.process(r.Process)
	if p == nil || !p.manages(r.Object.Kind) || r.Code != 422 && r.Code != 409 ||
		r.Verb != "patch" && r.Verb != "update" {
		return
	}
	live := l.j.state.Named(r.Object.Kind, r.Object.Namespace, r.Object.Name)
	if saw := meta.Of(r.Saw); saw == nil || live == nil || meta.ControllerOf(saw) != nil {
		return
	}
	if owner := meta.ControllerOf(live.Meta); owner != nil && string(owner.UID) != r.For.UID {
		l.lost[race{live.Meta.GetUID(), uidOf(r.For)}] = true
		l.j.Exercise()
	}
}
