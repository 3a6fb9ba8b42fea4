package law

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// Two histories that lead to one state of the cluster are told apart where a law will: by the identity that something
// held when a sync began, by what was in use when the server was asked, and by what was owned when it was orphaned.
func TestDigestTellsWhatWasSoBefore(t *testing.T) {
	a, p := object("DaemonSet", "a"), pod("p", nil)
	p.OwnerReferences = pod("p", a).OwnerReferences
	n1, n2, last := p.on("n1"), p.on("n2"), p.on("n1")
	moved := func(first *thing) *tape {
		tp := &tape{}
		tp.exist(a, first)
		tp.show("ds", a, first)
		tp.start("ds", a)
		for _, step := range [][2]*thing{{first, n2}, {n2, last}} {
			tp.commit("scheduler", "update", nil, step[0], step[1])
			tp.deliver("ds", step[0], step[1])
		}
		return tp
	}
	d, q := object("Disk", "d").dying(inUse), pod("q", nil)
	uses, leaves, now := q.on("d"), q.on("e"), q.on("d")
	asked := func(first *thing) *tape {
		tp := &tape{}
		tp.exist(d, first)
		tp.show("vp", d, first)
		tp.start("vp", nil)
		tp.add(sim.Record{Op: sim.Read, Process: "vp", Verb: "list", Object: sim.Ref{Kind: "Pod"}})
		tp.commit("kubelet", "update", nil, first, now)
		tp.deliver("vp", first, now)
		return tp
	}
	orphaned := func(late bool) *tape {
		tp := &tape{}
		o, r := set("o", 0), pod("r", nil)
		r.OwnerReferences = pod("r", o).OwnerReferences
		going, free := o.dying(orphanFinalizer), r.owned()
		tp.exist(o, r)
		steps := [][2]*thing{{o, going}, {r, free}}
		if late {
			slices.Reverse(steps)
		}
		for _, step := range steps {
			tp.user(step[0], step[1])
		}
		return tp
	}
	for name, c := range map[string][2]*tape{
		"promise":  {orphaned(false), orphaned(true)},
		"identity": {moved(p), moved(n1)},
		"use":      {asked(leaves), asked(uses)},
	} {
		var x, y sim.Hash
		judge(c[0]).Digest(&x)
		judge(c[1]).Digest(&y)
		if x == y {
			t.Errorf("%s: one digest, %x", name, uint64(x))
		}
		x, y = 0, 0
		judge(c[0]).Digest(&x)
		judge(c[0]).Digest(&y)
		if x != y {
			t.Errorf("%s: %x and %x of one history", name, uint64(x), uint64(y))
		}
	}
}
