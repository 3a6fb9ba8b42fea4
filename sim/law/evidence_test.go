package law

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// audit returns a history as an audit log records it: writes and refusals, without what the writers had read.
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

// A lawful history has no violation in an audit log, under any profile.
func TestAuditLogHasNoFalsePositives(t *testing.T) {
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
		for _, br := range judgeAudit(tp, profile).Violations() {
			t.Errorf("profile %s: violation in a lawful history: %s", profile, br)
		}
	}
}

func TestAuditLogConvicts(t *testing.T) {
	a, b := set("a", 1), rc("b", 1)
	p := pod("p", b)
	for _, c := range []struct {
		name    string
		law     string
		version bool // the request contained a resourceVersion
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
		{"created with a reference to rs/a that does not control", "LAW-1", false, Informed, func(t *tape) *sim.Record {
			return t.commit("rs", "create", nil, nil, pod("q", nil).owned(plain(a)))
		}},
	} {
		tp := &tape{}
		tp.exist(a, b, p)
		c.do(tp).Guards.ResourceVersion = c.version
		j := judgeAudit(tp, Ownership)
		found := false
		for _, br := range j.Violations() {
			found = found || br.Law.ID == c.law && br.Strength == c.want && (c.law != "LAW-1" || br.Text == c.name)
		}
		if !found {
			t.Errorf("%s: %v, want %s of strength %d", c.name, j.Violations(), c.law, c.want)
		}
	}
}

// A law that needs missing evidence is not judged, and its verdict says why.
func TestNotJudged(t *testing.T) {
	a := set("a", 1)
	tp := &tape{}
	tp.exist(a)
	tp.settled()
	j := NewJudge(subjects(), All())
	j.Evidence = Commits | SettledWorld
	tp.observed(j)
	for _, v := range j.Verdicts() {
		missing := v.Law.Needs &^ (Commits | SettledWorld)
		switch {
		case v.Law.New == nil:
			if v.Why != "checked by "+v.Law.Where {
				t.Errorf("%s: not judged: %q", v.Law.ID, v.Why)
			}
		case missing != 0:
			if v.Why != "needs "+missing.String() || v.Count+v.Exercised != 0 {
				t.Errorf("%s: not judged: %q, asked %d times", v.Law.ID, v.Why, v.Exercised)
			}
		case v.Law.ID == "NOFIGHT-3":
			if v.Why != "" || v.Count != 1 || v.First == nil {
				t.Errorf("NOFIGHT-3: not judged: %q, %d violations", v.Why, v.Count)
			}
		case v.Why != "" || v.Count != 0:
			t.Errorf("%s: not judged: %q, %d violations", v.Law.ID, v.Why, v.Count)
		}
	}
}

// Without the table of kinds, a reference to an unknown kind cannot be resolved. Laws that need to resolve it are not
// judged.
func TestWithoutTheTableOfKinds(t *testing.T) {
	tp := &tape{}
	tp.exist(pod("p", object("Secret", "gone")))
	tp.settled()
	j := NewJudge(subjects(), All())
	tp.observed(j)
	for _, v := range j.Verdicts() {
		if v.Law.Needs&Table != 0 && v.Why != "needs table of kinds" {
			t.Errorf("%s: not judged: %q", v.Law.ID, v.Why)
		}
	}
	if n := count(j, "GC-1"); n != 0 {
		t.Errorf("GC-1: %d violations, want none", n)
	}
}

// The verdict on a law without a violation says whether the law was exercised.
func TestAsked(t *testing.T) {
	a, p := set("a", 1), pod("p", nil)
	tp := &tape{}
	tp.exist(a, p)
	tp.adopts("rs", a, p)
	asked := map[string]int{}
	for _, v := range judge(tp).Verdicts() {
		asked[v.Law.ID] = v.Exercised
	}
	for id, want := range map[string]int{"LAW-1b": 1, "LAW-2": 1, "ADOPT-4": 1, "GC-9": 0, "WATCH-1": 0,
		"ORPHAN-1": 0, "NOFIGHT-1": 0} {
		if asked[id] != want {
			t.Errorf("%s was exercised %d times, want %d", id, asked[id], want)
		}
	}
}

// Every law is exercised by at least one story without a violation.
func TestEveryLawIsExercised(t *testing.T) {
	asked := map[string]bool{}
	for _, s := range stories {
		if s.want != kept || asked[s.law] {
			continue
		}
		tp := &tape{}
		s.tell(tp)
		for _, v := range judge(tp).Verdicts() {
			asked[v.Law.ID] = asked[v.Law.ID] || v.Exercised > 0
		}
	}
	for _, l := range All() {
		if l.New != nil && !asked[l.ID] {
			t.Errorf("%s is exercised in no story that keeps it", l.ID)
		}
	}
}

// asks returns how often a law was exercised by a controller.
func asks(j *Judge, id, controller string) int {
	for _, v := range j.Verdicts() {
		if v.Law.ID == id && id == "EXACT-6" {
			return v.Exercised // on settled records it is evaluated for each object
		}
		for _, s := range v.By {
			if v.Law.ID == id && s.Controller == controller {
				return s.Exercised
			}
		}
	}
	return 0
}

// If a law holds only because of an excuse, it is not exercised.
func TestAnExcuseIsNoQuestion(t *testing.T) {
	for _, x := range []struct {
		law, controller string
		asked           bool
		tell            func(t *tape)
	}{
		{"NOFIGHT-3", "statefulset", true, func(t *tape) { t.line(1, "s-0"); t.settled() }},
		{"NOFIGHT-3", "statefulset", false, func(t *tape) {
			a, p := t.line(2, "s-0")
			t.user(p[0], p[0].dying("example.com/slow"))
			t.start("sts", a)
			t.settled()
		}},
		{"EXACT-6", "protection", false, func(t *tape) {
			d := object("Disk", "d").dying(inUse)
			t.exist(d, pod("p", nil).on("d"))
			t.settled()
		}},
		{"EXACT-3", "replicaset", true, func(t *tape) {
			a, _ := t.family(1)
			t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", a).on("n")) })
		}},
		{"EXACT-3", "doubles", false, func(t *tape) {
			a := object("Double", "a")
			t.exist(a)
			t.sync("doubles", a, func() { t.commit("doubles", "create", a, nil, pod("p", a).on("n")) })
		}},
		{"needed-objects-exist", "vault", true, func(t *tape) {
			v := object("Vault", "v")
			t.exist(v, owned("Disk", "d", v))
			t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v).on("d")) })
		}},
		{"needed-objects-exist", "vault", false, func(t *tape) {
			v := object("Vault", "v")
			t.exist(v)
			t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v)) })
		}},
	} {
		tp := &tape{}
		x.tell(tp)
		j := NewJudge(append(subjects(), Actor{Process: "doubles", Controller: "doubles", For: kind("Double"),
			Owns: kinds("Pod"), Contract: Contract{Identity: func(o runtime.Object) string { return o.(*thing).Node },
				AllowDuplicate: func(_, _, _ runtime.Object) bool { return true }}}), allLaws())
		j.Kinds = served
		tp.observed(j)
		if n := asks(j, x.law, x.controller); (n > 0) != x.asked {
			t.Errorf("%s was exercised by %s %d times, want exercised: %v", x.law, x.controller, n, x.asked)
		}
	}
}

// A program is judged like a reconciler for the writes of its announced reconciles.
func TestAnnouncedReconciles(t *testing.T) {
	for _, x := range []struct {
		opaque, announces, inReconcile, asked bool
	}{
		{false, false, true, true},
		{true, true, true, true},
		{true, true, false, false},
		{true, false, true, false},
	} {
		tp := &tape{}
		a, _ := tp.family(1)
		write := func() { tp.commit("rs", "create", a, nil, pod("p", a).on("n")) }
		if x.inReconcile {
			tp.sync("rs", a, write)
		} else {
			tp.commit("rs", "create", nil, nil, pod("p", a).on("n"))
		}
		subs := subjects()
		subs[0].Opaque, subs[0].Announces = x.opaque, x.announces
		j := NewJudge(subs, allLaws())
		j.Kinds = served
		tp.observed(j)
		if n := asks(j, "EXACT-3", "replicaset"); (n > 0) != x.asked {
			t.Errorf("%+v: exercised %d times", x, n)
		}
	}
}

// profiled judges a history in which the ReplicaSet controller has this profile. It returns the violated laws.
func profiled(t *tape, p Profile) map[string]bool {
	subs := subjects()
	subs[0].Profile = p
	j := NewJudge(subs, All())
	j.Kinds = served
	t.observed(j)
	out := map[string]bool{}
	for _, v := range j.Verdicts() {
		out[v.Law.ID] = v.Count > 0
	}
	return out
}

// Only the laws of a controller's profile are judged, for each record and when settled.
func TestProfiles(t *testing.T) {
	a, b, p := set("a", 1), set("b", 0), pod("p", nil)
	tp := &tape{}
	tp.exist(a, b, p)
	tp.show("rs", a, b)
	tp.deliver("rs", nil, p)                                                    // WATCH-4: a is not enqueued
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
				t.Errorf("%s under profile %s: broken: %v, want %v", c.law, p, got, want)
			}
		}
	}
}

// If one record violates several laws, the law that explains most is reported first: see the variable named.
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
		if f := j.First(); f == nil || f.Law.ID != c.want || len(j.Violations()) < 2 {
			t.Errorf("%s: violations %v, want first %s", c.name, j.Violations(), c.want)
		}
	}
}
