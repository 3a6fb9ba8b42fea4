package law

import "testing"

// A judge that forgets whatever it may accuses nobody whom one acquits that remembers.
func TestForgetful(t *testing.T) {
	asked := 0
	for _, s := range stories() {
		tp := &tape{}
		s.tell(tp)
		known, kept := map[accused]bool{}, judge(tp).Breaches()
		for _, b := range kept {
			known[accused{b.Law, b.Strength, b.Record}] = true
		}
		for _, memory := range []int{1, 2, 5} {
			for _, b := range judgeWith(tp, memory).Breaches() {
				asked++
				if !known[accused{b.Law, b.Strength, b.Record}] {
					t.Errorf("%s %s, remembering %d records: %s", s.law, s.name, memory, b)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("it accuses nobody at all")
	}
}

// A collector was told that an owner is gone, so long ago that the judge has forgotten it,
// and collects what names that owner only now. It is not accused of not having looked; one
// of which nothing was forgotten is.
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
		accused := false
		for _, b := range judgeWith(tp, memory).Breaches() {
			accused = accused || b.Law.ID == "GC-5"
		}
		if accused != want {
			t.Errorf("remembering %d records: accused %v", memory, accused)
		}
	}
}

type accused struct {
	law      *Law
	strength Strength
	record   int
}
