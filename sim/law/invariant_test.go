package law

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// oneDisk returns an invariant of a user: at most one disk for each app.
func oneDisk(when When) *Invariant {
	return &Invariant{ID: "one-disk", Sentence: "No two disks for one app.", When: when, Check: func(f *Facts) string {
		if n := len(f.All("Disk")); n > 1 {
			return strconv.Itoa(n) + " disks"
		}
		return ""
	}}
}

// The number of violations of an invariant "one disk": of a world and of one controller, at each of three moments.
func TestInvariants(t *testing.T) {
	disks := func(process string, n int) func(t *tape) {
		return func(t *tape) {
			for i := range n {
				t.commit(process, "create", nil, nil, object("Disk", "d"+strconv.Itoa(i)))
			}
			t.settled()
		}
	}
	replaced := func(t *tape) {
		d := object("Disk", "d")
		t.commit("maker", "create", nil, nil, d)
		t.commit("maker", "update", nil, d, d.as(func(*thing) {}))
		t.commit("maker", "delete", nil, d, nil)
		t.commit("maker", "create", nil, nil, object("Disk", "d"))
		t.settled()
	}
	for _, c := range []struct {
		name       string
		when       When
		ofContract bool
		tell       func(t *tape)
		breaks     int
	}{
		{"one disk, when the world settled", WhenSettled, false, disks("maker", 1), 0},
		{"two, when the world settled", WhenSettled, false, disks("maker", 2), 1},
		{"two of the user, when the world settled", WhenSettled, false, disks(User, 2), 1},
		{"one, at writes", AtWrite, false, disks("maker", 1), 0},
		{"three, at writes", AtWrite, false, disks("maker", 3), 2},
		{"two of the user, at writes", AtWrite, false, disks(User, 2), 0},
		{"replaced by one of its name, at writes", AtWrite, false, replaced, 0},
		{"two, at deletes", AtDelete, false, disks("maker", 2), 0},
		{"of a contract, two, when the world settled", WhenSettled, true, disks("maker", 2), 1},
		{"of a contract, replaced, when the world settled", WhenSettled, true, replaced, 0},
	} {
		tp := &tape{}
		c.tell(tp)
		v := oneDisk(c.when)
		maker := Actor{Process: "maker", Controller: "maker"}
		laws := []*Law{v.Law()}
		if c.ofContract {
			maker.Invariants = []*Invariant{v}
			laws = maker.Laws()
		}
		j := NewJudge([]Actor{maker}, laws)
		tp.observed(j)
		if n := count(j, "one-disk"); n != c.breaks {
			t.Errorf("%s: %d violations, want %d: %v", c.name, n, c.breaks, j.Violations())
		}
	}
}

// An error about an invariant or a contract has one line, with its name.
func TestMistakesInInvariants(t *testing.T) {
	check := func(f func(f *Facts) string) *Invariant {
		return &Invariant{ID: "mine", Sentence: "It holds.", When: WhenSettled, Check: f}
	}
	widgets := func(f *Facts) string { f.All("Widget"); return "" }
	for _, c := range []struct {
		want string
		v    *Invariant
	}{
		{"invariant mine: its Check panics: no body at invariant_test.go:", check(func(*Facts) string { panic("no\nbody") })},
		{"invariant mine: it reads the kind Widget, which the world does not have", check(widgets)},
		{"invariant mine: its Check changes an object that it is given: change a DeepCopy", check(func(f *Facts) string {
			f.All("Pod")[0].(*thing).Labels["app"] = "other"
			return ""
		})},
	} {
		j := NewJudge(nil, []*Law{c.v.Law()})
		j.Kinds = served
		tp := &tape{}
		tp.exist(pod("p", nil))
		tp.settled()
		if got := misused(func() {
			tp.observed(j)
		}); !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	ok := func(*Facts) string { return "" }
	for want, c := range map[string]*Contract{
		"two invariants have the ID mine":                                    {Invariants: []*Invariant{check(ok), check(ok)}},
		"invariant never-fight: a law has that name: give it another ID":     {Invariants: []*Invariant{{ID: "never-fight", Sentence: "x", When: AtWrite, Check: ok}}},
		"invariant mine: Check is nil: it says what is wrong":                {Invariants: []*Invariant{check(nil)}},
		"invariant mine: When is empty: Check would never be called":         {Invariants: []*Invariant{{ID: "mine", Sentence: "x", Check: ok}}},
		"invariant mine: When is 16: combine WhenSettled, ":                  {Invariants: []*Invariant{{ID: "mine", Sentence: "x", When: 16, Check: ok}}},
		`invariant "a/b": an ID is one word, without quotes, slashes`:        {Invariants: []*Invariant{{ID: "a/b", Sentence: "x", When: AtWrite, Check: ok}}},
		"Contract.MaxSurge needs Replicas: it is how many more than that an": {MaxSurge: func(runtime.Object) int { return 1 }},
		"Contract.MaxActive needs a nil Replicas":                            {Replicas: func(runtime.Object) int { return 1 }, MaxActive: func(runtime.Object) int { return 1 }},
		"Contract.Finalizers has an empty name":                              {Finalizers: []string{""}},
		"invariant mine: Recent is negative":                                 {Invariants: []*Invariant{{ID: "mine", Sentence: "x", When: AtWrite, Check: ok, Recent: -1}}},
		"Contract.Counts[0] needs Of, and Is or Each":                        {Counts: []Count{{Name: "ready"}}},
		"invariant EXACT-2: a law has that name: give it another ID":         {Invariants: []*Invariant{{ID: "EXACT-2", Sentence: "x", When: AtWrite, Check: ok}}},
		"": {Invariants: []*Invariant{check(ok)}},
	} {
		got := ""
		if err := c.Check(); err != nil {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	one := func(runtime.Object) int { return 1 }
	contradictory, _ := labels.Parse("app=a,app!=a,tier")
	for want, c := range map[string]Contract{
		"controller rs: Contract.Replicas panics: oh no at invariant_test.go:133":                                  {Replicas: func(runtime.Object) int { panic("oh\nno") }},
		"controller rs: Contract.MaxSurge of rs/a is -1: at least 0":                                               {Replicas: one, MaxSurge: func(runtime.Object) int { return -1 }},
		"controller rs: Contract.Selector of rs/a can match nothing: return nil for an owner that selects nothing": {Selector: func(runtime.Object) labels.Selector { return contradictory }},
		"invariant mine: it reads the kind Widget, which the world does not have":                                  {Invariants: []*Invariant{check(widgets)}},
		"": {Selector: selectorOf, MaxSurge: func(runtime.Object) int { return 0 }},
	} {
		j := NewJudge([]Actor{{Process: "rs", Controller: "rs", For: kind("ReplicaSet"), Owns: kinds("Pod"), Contract: c}}, append(All(), c.Laws()...))
		j.Kinds = served
		tp, a := &tape{}, set("a", 1)
		tp.exist(a)
		tp.show("rs", a)
		tp.sync("rs", a, func() { tp.commit("rs", "create", a, nil, pod("p", a)) })
		tp.settled()
		if got := misused(func() {
			tp.observed(j)
		}); got != want || len(j.Violations()) > 0 {
			t.Errorf("%q, %v, want %q", got, j.Violations(), want)
		}
	}
}

// If the owner's other dependents were delivered before the sync (shown is 3), a violation is Informed. It is Committed
// if only one was (2), if one came during the sync (0), or if the sync lists live (4).
func TestInvariantsGetDependents(t *testing.T) {
	for when, verb := range map[When]string{BeforeCreate: "create", AtWrite: "create", AtDelete: "delete"} {
		for shown, want := range map[int]Strength{4: Committed, 3: Informed, 2: Committed, 0: Committed} {
			c := Contract{Invariants: []*Invariant{{ID: "alone", Sentence: "x", When: when, Check: func(f *Facts) string {
				n := len(slices.DeleteFunc(f.Dependents, func(o runtime.Object) bool { return o == nil }))
				clear(f.Dependents) // a Check gets a slice of its own
				return strings.Repeat("beside ", n)
			}}}}
			j := NewJudge([]Actor{{Process: "rs", Controller: "rs", For: kind("ReplicaSet"), Owns: kinds("Pod"), Contract: c}}, c.Laws())
			tp, a := &tape{}, set("a", 1)
			p, q, before, after := pod("p", a), pod("q", a), (*thing)(nil), (*thing)(nil)
			if after = q; verb == "delete" {
				tp.exist(q)
				before, after = q, nil
			}
			tp.exist(a, p)
			tp.show("rs", []*thing{a, q, p}[:min(max(shown, 2), 3)]...)
			tp.sync("rs", a, func() {
				switch shown {
				case 0:
					tp.shows("rs", nil, p)
				case 4:
					tp.lists("rs", a)
				}
				tp.commit("rs", verb, a, before, after)
			})
			tp.observed(j)
			if got := j.Violations(); len(got) != 1 || got[0].Strength != want || !strings.HasSuffix(got[0].Text, "beside ") {
				t.Errorf("%s, %d shown: %v", verb, shown, got)
			}
		}
	}
}

// A write that suits the stored owner is no violation, even if the sync began with an older version of the owner. A
// violation is Committed if it depends on a kind that the controller reads live, and that its caches never contained.
func TestInvariantsGetWhatWasReadLive(t *testing.T) {
	for when, verb := range map[When]string{BeforeCreate: "create", AtWrite: "create", AtDelete: "delete"} {
		for _, live := range []bool{false, true} {
			sized := &Invariant{ID: "sized", Sentence: "x", When: when, Check: func(f *Facts) string {
				if f.Owner.(*thing).Replicas != 2 {
					return "another size"
				}
				return ""
			}}
			configured := &Invariant{ID: "configured", Sentence: "x", When: when, Check: func(f *Facts) string {
				if len(f.All("Config")) == 0 && f.Get("Config", "default", "c") == nil {
					return "no config"
				}
				return ""
			}}
			c := Contract{Invariants: []*Invariant{sized, configured}}
			j := NewJudge([]Actor{{Process: "rs", Controller: "rs", For: kind("ReplicaSet"), Owns: kinds("Pod"), Contract: c}}, c.Laws())
			tp, a := &tape{}, set("a", 1)
			two, p, config := a.as(func(o *thing) { o.Replicas = 2 }), pod("p", a), object("Config", "c")
			tp.exist(a, config)
			before, after := (*thing)(nil), p
			if verb == "delete" {
				before, after = p, nil
				tp.exist(p)
				tp.show("rs", p)
			}
			tp.show("rs", a)
			tp.sync("rs", a, func() {
				tp.user(a, two)
				tp.read("rs", a, two)
				if live {
					tp.read("rs", a, config)
				}
				tp.user(config, nil)
				tp.commit("rs", verb, a, before, after)
			})
			tp.observed(j)
			want := map[bool]Strength{false: Informed, true: Committed}[live]
			if got := j.Violations(); len(got) != 1 || got[0].Strength != want || !strings.HasSuffix(got[0].Text, "no config") {
				t.Errorf("%s, read live: %v: %v", verb, live, got)
			}
		}
	}
}

func misused(f func()) (text string) {
	defer func() {
		if m, is := recover().(Misuse); is {
			text = m.Error()
		}
	}()
	f()
	return ""
}

// The invariant of an actor that is added later is checked once.
func TestInvariantsOfLaterActors(t *testing.T) {
	v := oneDisk(WhenSettled)
	j := NewJudge(nil, nil)
	j.Observe(&sim.Record{Op: sim.Settled})
	maker := Actor{Process: "maker", Controller: "maker", Contract: Contract{Invariants: []*Invariant{v}}}
	j.AddActor(maker)
	for range 2 {
		j.AddLaw(maker.Laws()[0])
	}
	tp := &tape{}
	tp.exist(object("Disk", "a"), object("Disk", "b"))
	tp.settled()
	tp.observed(j)
	if n := count(j, "one-disk"); n != 1 {
		t.Errorf("%d violations, want 1", n)
	}
}
