package law

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// profiled judges a history with the ReplicaSet controller held to a profile, and
// says which laws it breaks.
func profiled(t *tape, p Profile) map[string]bool {
	subs := subjects()
	subs[0].Profile = p
	j := NewJudge(subs, All())
	j.Kinds = served
	for i := range t.records {
		j.Observe(&t.records[i])
	}
	out := map[string]bool{}
	for _, v := range j.Verdicts() {
		out[v.Law.ID] = v.Count > 0
	}
	return out
}

// A controller is held to what its profile owes and to nothing more, while it
// acts and at rest.
func TestProfiles(t *testing.T) {
	a, b, p := set("a", 1), set("b", 0), pod("p", nil)
	tp := &tape{}
	tp.exist(a, b, p)
	tp.show("rs", a, b)
	tp.deliver("rs", nil, p)                                                    // WATCH-4: a is not synced
	tp.start("rs", b)                                                           //
	tp.add(sim.Record{Op: sim.Read, Process: "rs", Verb: "list", For: b.ref()}) // WRITE-4
	tp.commit("rs", "create", b, nil, pod("q", nil))                            // LAW-1
	tp.end("rs", b, "")
	tp.settled() // ADOPT-2: p is an orphan
	for _, c := range []struct {
		law  string
		owed Profile
	}{{"LAW-1", Ownership}, {"NOFIGHT-3", Ownership}, {"WRITE-4", Writing}, {"WATCH-4", Upstream},
		{"ADOPT-2", Upstream}} {
		if l := ByID(c.law); l.Profile != c.owed {
			t.Errorf("%s is of profile %s, want %s", c.law, l.Profile, c.owed)
		}
		for p := range Profile(profiles) {
			want := p >= c.owed
			if got := profiled(tp, p)[c.law]; got != want {
				t.Errorf("%s under profile %s: broken is %v, want %v", c.law, p, got, want)
			}
		}
	}
}

// Of the laws that one record breaks the one that says what is wrong comes first.
func TestPrecedence(t *testing.T) {
	for _, c := range []struct {
		name, want string
		tell       func(t *tape)
	}{
		{"what has an owner is collected", "GC-5", func(t *tape) {
			a, b := set("a", 1), set("b", 0)
			p := pod("p", nil).owned(controlledBy(a), plain(b))
			t.exist(a, b, p)
			t.user(a, nil)
			t.collects(p, a)
		}},
		{"what none owns is kept", "GC-1", func(t *tape) {
			t.exist(pod("p", nil).owned(plain(object("Secret", "gone"))))
			t.settled()
		}},
		{"an adoption that takes finalizers off", "LAW-2", func(t *tape) {
			t.adoptsHeld("rs", set("a", 1), []string{cleanup}, nil)
		}},
		{"a release that does", "ORPHAN-1", func(t *tape) {
			a := set("a", 0)
			p := pod("p", a).labelled("db").held(cleanup)
			t.exist(a, p)
			t.commit("rs", "patch", a, p, p.owned().held())
		}},
	} {
		tp := &tape{}
		c.tell(tp)
		j := judge(tp)
		if f := j.First(); f == nil || f.Law.ID != c.want || len(j.Breaches()) < 2 {
			t.Errorf("%s: first of %v, want %s", c.name, j.Breaches(), c.want)
		}
	}
}
