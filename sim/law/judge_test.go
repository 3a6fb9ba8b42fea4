package law

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// Two histories with equal cluster states have different digests if a law may decide differently. The difference may be
// an earlier identity of a pod, what was in use at a list, or the owners of an orphaned object.
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
			t.Errorf("%s: both digests are %x", name, uint64(x))
		}
		x, y = 0, 0
		judge(c[0]).Digest(&x)
		judge(c[0]).Digest(&y)
		if x != y {
			t.Errorf("%s: the digests of one history are %x and %x", name, uint64(x), uint64(y))
		}
	}
}

// A judge with limited memory reports no violation that a judge with unlimited memory does not report.
func TestForgetful(t *testing.T) {
	asked := 0
	for _, s := range stories {
		tp := &tape{}
		s.tell(tp)
		known, kept := map[reported]bool{}, judge(tp).Violations()
		for _, b := range kept {
			known[reported{b.Law, b.Strength, b.Record}] = true
		}
		for _, memory := range []int{1, 2, 5} {
			for _, b := range judgeWith(tp, memory).Violations() {
				asked++
				if !known[reported{b.Law, b.Strength, b.Record}] {
					t.Errorf("%s %s, remembering %d records: %s", s.law, s.name, memory, b)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("no judge reports a violation")
	}
}

// A garbage collector deletes a dependent without a live read of the owner. This is a violation if the garbage
// collector has not received the owner's deletion. It is none if it has, even if the judge has dropped that delivery.
func TestForgetfulOfOwners(t *testing.T) {
	for memory, want := range map[int]bool{1: false, 0: true} {
		tp := &tape{}
		told, never := set("a", 1), set("b", 1)
		tp.exist(told)
		tp.show("gc", told)
		tp.user(told, nil)
		tp.deliver("gc", told, nil)
		for range 5 {
			tp.user(nil, pod("other", nil).again())
		}
		owner := told
		if memory == 0 {
			owner = never
		}
		p := pod("p", owner)
		tp.exist(p)
		tp.show("gc", p)
		tp.commit("gc", "delete", nil, p, nil)
		reported := false
		for _, b := range judgeWith(tp, memory).Violations() {
			reported = reported || b.Law.ID == "GC-5"
		}
		if reported != want {
			t.Errorf("remembering %d records: reported: %v", memory, reported)
		}
	}
}

type reported struct {
	law      *Law
	strength Strength
	record   int
}

// day returns a lawful history of two sets with the same selector and n pods each. The pods are created, started,
// orphaned by the user, adopted, and scaled down.
func day(n int) *tape {
	t := &tape{}
	a, b := set("a", n), set("b", n)
	t.exist(a, b)
	t.show("rs", a, b)
	t.show("gc", a, b)
	for i := range n {
		for _, o := range []*thing{a, b} {
			key := "default/" + o.Name
			p := pod(fmt.Sprintf("%s-%d", o.Name, i), o)
			t.start("rs", o)
			t.commit("rs", "create", o, nil, p)
			t.end("rs", o, "")
			t.deliver("rs", nil, p, key).Observed = []string{key}
			t.deliver("gc", nil, p)
			run := p.as(func(p *thing) { p.Node = p.Name })
			t.commit("kubelet", "update", nil, p, run).Subresource = "status"
			t.deliver("rs", p, run, key)
			t.deliver("gc", p, run)
			t.sync("rs", o, func() {})
			if i%4 != 0 {
				continue
			}
			free := t.shows("rs", run, run.owned(), "default/a", "default/b")
			t.deliver("gc", run, free)
			mine := t.adopts("rs", o, free)
			t.deliver("rs", free, mine, key)
			t.deliver("gc", free, mine)
			ended := mine.as(func(p *thing) { p.Failed = true })
			t.commit("kubelet", "update", nil, mine, ended).Subresource = "status"
			t.deliver("rs", mine, ended, key)
			t.deliver("gc", mine, ended)
			t.start("rs", o)
			t.commit("rs", "delete", o, ended, nil)
			t.end("rs", o, "")
			t.deliver("rs", ended, nil, key).Observed = []string{key}
			t.deliver("gc", ended, nil)
			t.sync("rs", o, func() {})
		}
	}
	t.start("rs", a)
	t.end("rs", a, "")
	return t
}

func TestALawfulDay(t *testing.T) {
	for _, b := range judge(day(8)).Violations() {
		t.Errorf("a lawful history breaks %s", b)
	}
}

// turns returns a history with two workers. At least one worker is always in a reconcile. A pod changes n times.
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

// The journal drops what the process received before all current reconciles.
func TestTheJournalIsCut(t *testing.T) {
	tp, _, _ := turns(20 * view.LongJournal)
	if n := cap(judge(tp).State().process("rs").known.Journal.Entries); n > 4*view.LongJournal {
		t.Errorf("%d entries are kept", n)
	}
}

// The journal keeps everything that the process received during a current reconcile.
func TestALongSyncMayCountWhatItWasShown(t *testing.T) {
	for counted, breaks := range map[int]bool{0: false, 1: false, 2: true} {
		tp, a, p := turns(2 * view.LongJournal)
		tp.user(p, nil) // a count may be the count at the start of the reconcile, or the current count
		tp.deliver("rs", p, nil, "default/a")
		for i := range 3 * view.LongJournal {
			q := pod(fmt.Sprint("x", i), set("b", 0))
			tp.exist(q)
			tp.deliver("rs", nil, q, "default/b")
		}
		tp.status(a, func(o *thing) { o.Placed = counted })
		broken := false
		for _, b := range judge(tp).Violations() {
			broken = broken || b.Law.ID == "EXACT-8"
		}
		if broken != breaks {
			t.Errorf("a status that counts %d: broken: %v", counted, broken)
		}
	}
}

// TestMembersByName checks that the name of a pod, not the contract, decides whether a StatefulSet may adopt it.
func TestMembersByName(t *testing.T) {
	for _, c := range []struct {
		pod  string
		want bool
	}{
		{"web-0", true}, {"web-12", true}, {"web-db-0", false}, {"web", false}, {"web-", false}, {"web-01", false},
		{"web-x", false}, {"web-+1", false}, {"webs-0", false}, {"web-99999999999", false},
	} {
		s := byName()
		s.For.Group, s.Adoptable = "apps", func(_, _ runtime.Object) bool { return !c.want }
		owner, p := set("web", 1), pod(c.pod, nil)
		if got := s.willing(owner, "Pod", p); got != c.want {
			t.Errorf("%s: %v", c.pod, got)
		}
		if got := s.willing(owner, "Revision", p); got == c.want {
			t.Errorf("%s, not a Pod: %v, but the contract says otherwise", c.pod, got)
		}
	}
}

func custom(spec any, owners ...any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"kind": "Widget", "spec": map[string]any{"n": spec},
		"metadata": map[string]any{"name": "w", "uid": "u", "ownerReferences": owners},
	}}
}

func TestOnlyRefs(t *testing.T) {
	owner := map[string]any{"apiVersion": "v1", "kind": "ReplicaSet", "name": "a", "uid": "a-1", "controller": true}
	p := pod("p", nil)
	a := set("a", 1)
	for _, c := range []struct {
		name          string
		before, after any
		want          bool
	}{
		{"custom, a reference", custom(int64(1)), custom(int64(1), owner), true},
		{"custom, a field too", custom(int64(1)), custom(int64(2), owner), false},
		{"a reference", p, p.owned(controlledBy(a)), true},
		{"a label", p, p.labelled("db"), false},
		{"an annotation", p, p.as(func(o *thing) { o.Annotations = map[string]string{"a": "b"} }), false},
		{"a field", p, p.as(func(o *thing) { o.Node = "n" }), false},
		{"a deletion", p, p.dying("x"), false},
		{"a creation", nil, p, false},
		{"another kind of value", p, custom(int64(1)), false},
	} {
		if got := (&Write{Actor: &Actor{}, Before: meta.Of(c.before),
			After: meta.Of(c.after)}).onlyRefs(&sim.Record{Before: c.before, After: c.after}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFirstIsTheFirstThatFails(t *testing.T) {
	j := NewJudge(nil, All())
	for _, s := range []Strength{Committed, Informed, Committed} {
		j.keep(Violation{Law: all[0], Strength: s, Record: len(j.violations)})
	}
	if f := j.First(); f == nil || f.Record != 1 {
		t.Errorf("first is %v, want record 1", f)
	}
	j.Since(2)
	if f := j.First(); f != nil {
		t.Errorf("first since 2 is %v, want none", f)
	}
	j.Strict = true
	if f := j.First(); f == nil || f.Record != 2 {
		t.Errorf("first under strict is %v, want record 2", f)
	}
}
