package law

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// audit leaves of a history what an audit log has: who wrote what. It knows no
// syncs and no deliveries, and not what anybody had read.
func audit(t *tape) []sim.Record {
	var log []sim.Record
	for _, r := range t.records {
		if r.Op != sim.Commit && r.Op != sim.Refusal {
			continue
		}
		r.For, r.SawFor, r.Saw, r.Worker = sim.Ref{}, nil, nil, 0
		r.Index = len(log)
		log = append(log, r)
	}
	return log
}

func judgeAudit(t *tape, profile Profile) *Judge {
	subs := subjects()
	for i := range subs {
		subs[i].Profile = profile
	}
	j := NewJudge(subs, All())
	j.Evidence = Commits
	log := audit(t)
	for i := range log {
		j.Observe(&log[i])
	}
	return j
}

// What a controller may do it may do in an audit log too, held to whatever
// profile.
func TestAuditLogAccusesNobody(t *testing.T) {
	a, b := set("a", 2), set("b", 0)
	p, q := pod("p", nil), pod("q", b)
	for profile := range Profile(profiles) {
		tp := &tape{}
		tp.exist(a, b, p, q)
		adopted := tp.adopts("rs", a, p)
		tp.sync("rs", a, func() { tp.commit("rs", "create", a, nil, pod("r", a)) })
		relabelled := adopted.labelled("db")
		tp.user(adopted, relabelled)
		tp.sync("rs", a, func() { tp.commit("rs", "patch", a, relabelled, relabelled.owned()) })
		tp.sync("rs", b, func() { tp.commit("rs", "delete", b, q, nil) })
		for _, br := range judgeAudit(tp, profile).Breaches() {
			t.Errorf("profile %s: %s", profile, br)
		}
	}
}

func TestAuditLogConvicts(t *testing.T) {
	a, b := set("a", 1), rc("b", 1)
	p := pod("p", b)
	for _, c := range []struct {
		name    string
		law     string
		version bool // the request named the version it changed
		want    Strength
		do      func(t *tape) *sim.Record
	}{
		{"a steal", "LAW-1b", false, Committed, func(t *tape) *sim.Record {
			return t.commit("rs", "update", a, p, p.owned(controlledBy(a)))
		}},
		{"a steal of what it had read", "LAW-1b", true, Informed, func(t *tape) *sim.Record {
			return t.commit("rs", "update", a, p, p.owned(controlledBy(a)))
		}},
		{"another's is edited", "LAW-2", true, Informed, func(t *tape) *sim.Record {
			return t.commit("rs", "update", a, p, p.labelled("x"))
		}},
		{"another's is deleted", "LAW-2", false, Committed, func(t *tape) *sim.Record {
			return t.commit("rs", "delete", a, p, nil)
		}},
		{"creation without a ControllerRef", "LAW-1", false, Informed, func(t *tape) *sim.Record {
			return t.commit("rs", "create", a, nil, pod("q", nil))
		}},
	} {
		tp := &tape{}
		tp.exist(a, b, p)
		c.do(tp).Guards.ResourceVersion = c.version
		j := judgeAudit(tp, Ownership)
		found := false
		for _, br := range j.Breaches() {
			found = found || br.Law.ID == c.law && br.Strength == c.want
		}
		if !found {
			t.Errorf("%s: %v, want %s of strength %d", c.name, j.Breaches(), c.law, c.want)
		}
	}
}

// A law that needs more than there is answers that it was not judged, and why.
func TestNotJudged(t *testing.T) {
	a := set("a", 1)
	tp := &tape{}
	tp.exist(a)
	tp.settled()
	j := NewJudge(subjects(), All())
	j.Evidence = Commits | Rest
	for i := range tp.records {
		j.Observe(&tp.records[i])
	}
	for _, v := range j.Verdicts() {
		missing := v.Law.Needs &^ (Commits | Rest)
		switch {
		case v.Law.New == nil:
			if v.Why != "checked by "+v.Law.Where {
				t.Errorf("%s: not judged: %q", v.Law.ID, v.Why)
			}
		case missing != 0:
			if v.Why != "needs "+missing.String() || v.Count+v.Asked != 0 {
				t.Errorf("%s: not judged: %q, asked %d times", v.Law.ID, v.Why, v.Asked)
			}
		case v.Law.ID == "NOFIGHT-3":
			if v.Why != "" || v.Count != 1 || v.First == nil {
				t.Errorf("NOFIGHT-3: not judged: %q, %d breaches", v.Why, v.Count)
			}
		case v.Why != "" || v.Count != 0:
			t.Errorf("%s: not judged: %q, %d breaches", v.Law.ID, v.Why, v.Count)
		}
	}
}

// Without the table of kinds a reference to a kind that was not met can't be
// resolved: the laws that would have to are not judged.
func TestWithoutTheTableOfKinds(t *testing.T) {
	tp := &tape{}
	tp.exist(pod("p", object("Secret", "gone")))
	tp.settled()
	j := NewJudge(subjects(), All())
	for i := range tp.records {
		j.Observe(&tp.records[i])
	}
	for _, v := range j.Verdicts() {
		if v.Law.Needs&Table != 0 && v.Why != "needs table of kinds" {
			t.Errorf("%s: not judged: %q", v.Law.ID, v.Why)
		}
	}
	if n := count(j, "GC-1"); n != 0 {
		t.Errorf("GC-1 was broken %d times", n)
	}
}

// A law that held and was never asked says nothing, and says so.
func TestAsked(t *testing.T) {
	a, p := set("a", 1), pod("p", nil)
	tp := &tape{}
	tp.exist(a, p)
	tp.adopts("rs", a, p)
	asked := map[string]int{}
	for _, v := range judge(tp).Verdicts() {
		asked[v.Law.ID] = v.Asked
	}
	for id, want := range map[string]int{"LAW-1b": 1, "LAW-2": 1, "ADOPT-4": 1, "GC-9": 0, "WATCH-1": 0,
		"ORPHAN-1": 0, "NOFIGHT-1": 0} {
		if asked[id] != want {
			t.Errorf("%s was asked %d times, want %d", id, asked[id], want)
		}
	}
}

// Every law can be asked: some story brings its subject matter up.
func TestEveryLawIsAsked(t *testing.T) {
	asked := map[string]bool{}
	for _, s := range stories() {
		if s.want != kept || asked[s.law] {
			continue
		}
		tp := &tape{}
		s.tell(tp)
		for _, v := range judge(tp).Verdicts() {
			asked[v.Law.ID] = asked[v.Law.ID] || v.Asked > 0
		}
	}
	for _, l := range All() {
		if l.New != nil && !asked[l.ID] {
			t.Errorf("%s is asked in no story that keeps it", l.ID)
		}
	}
}
