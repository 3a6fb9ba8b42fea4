package law

import (
	"fmt"
	"testing"

	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// turns is a history in which two workers take turns, so that one of them is
// always at work, and a pod changes n times meanwhile.
func turns(n int) (*tape, *thing, *thing) {
	t := &tape{}
	a, b := set("a", 1), set("b", 0)
	a.Placed = 3
	p := pod("p", a)
	t.exist(a, b, p)
	t.show("rs", a, b)
	t.deliver("rs", nil, p, "default/a")
	t.start("rs", a)
	for i := range n {
		if i%4 == 3 {
			t.start("rs", b).Worker = 1
			t.end("rs", a, "")
			t.start("rs", a)
			t.end("rs", b, "").Worker = 1
		}
		q := p.as(func(o *thing) { o.Node = fmt.Sprint("n", i) })
		t.commit("kubelet", "update", nil, p, q)
		t.deliver("rs", p, q, "default/a")
		p = q
	}
	return t, a, p
}

// What a process was shown before all syncs at work is forgotten.
func TestTheJournalIsCut(t *testing.T) {
	tp, _, _ := turns(20 * view.LongJournal)
	if n := cap(judge(tp).State().process("rs").known.Journal.Entries); n > 4*view.LongJournal {
		t.Errorf("%d entries are kept", n)
	}
}

// What it was shown since one of them began is not, however much it is.
func TestALongSyncMayCountWhatItWasShown(t *testing.T) {
	for counted, breaks := range map[int]bool{0: false, 1: false, 2: true} {
		tp, a, p := turns(2 * view.LongJournal)
		tp.user(p, nil) // both the beginning of the sync and this moment explain a count
		tp.deliver("rs", p, nil, "default/a")
		for i := range 3 * view.LongJournal {
			q := pod(fmt.Sprint("x", i), set("b", 0))
			tp.exist(q)
			tp.deliver("rs", nil, q, "default/b")
		}
		tp.status(a, func(o *thing) { o.Placed = counted })
		broken := false
		for _, b := range judge(tp).Breaches() {
			broken = broken || b.Law.ID == "EXACT-8"
		}
		if broken != breaks {
			t.Errorf("a status that counts %d: broken is %v", counted, broken)
		}
	}
}
