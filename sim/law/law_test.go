package law

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/clause"
)

// story is a short history, and the verdict of one law on it.
type story struct {
	law, name string
	want      verdict
	tell      func(t *tape)
}

type verdict uint8

const (
	kept      verdict = iota
	broken            // Informed
	committed         // Committed only
)

// stories contains at least one story that keeps each law, and one that violates it. A story that keeps its law must
// keep all other laws, unless it is marked.
var stories []story

// tells adds stories to [TestLaws]. Each file of stories calls it.
func tells(s []story) bool {
	stories = append(stories, s...)
	return true
}

func TestLaws(t *testing.T) {
	for _, s := range stories {
		t.Run(s.law+"/"+s.name, func(t *testing.T) {
			tp := &tape{}
			s.tell(tp)
			j := judge(tp)
			got, text := kept, ""
			for _, b := range j.Violations() {
				if b.Law.ID != s.law {
					continue
				}
				text += "\n" + b.String()
				if b.Strength == Informed {
					got = broken
				} else if got == kept {
					got = committed
				}
			}
			if got != s.want {
				t.Errorf("verdict %d, want %d%s", got, s.want, text)
			}
			if s.want == kept {
				for _, b := range j.Violations() {
					t.Errorf("breaks another law: %s", b)
				}
			}
		})
	}
}

func TestEveryLawIsKeptAndBroken(t *testing.T) {
	seen := map[string][3]int{}
	for _, s := range stories {
		n := seen[s.law]
		n[s.want]++
		seen[s.law] = n
	}
	for _, l := range All() {
		if l.New == nil {
			if l.Where == "" {
				t.Errorf("%s has neither a check nor a test that checks it", l.ID)
			}
			continue
		}
		if n := seen[l.ID]; n[kept] == 0 || n[broken]+n[committed] == 0 {
			t.Errorf("%s: %d stories keep it, %d break it", l.ID, n[kept], n[broken]+n[committed])
		}
	}
}

func TestLawsAreComplete(t *testing.T) {
	ids, names := map[string]bool{}, map[string]bool{}
	for _, l := range All() {
		if l.ID == "" || l.Name == "" || l.Sentence == "" || l.Source == "" {
			t.Errorf("%s %s: an empty field", l.ID, l.Name)
		}
		if ids[l.ID] || names[l.Name] {
			t.Errorf("%s %s occurs twice", l.ID, l.Name)
		}
		ids[l.ID], names[l.Name] = true, true
		if ByID(l.ID) != l {
			t.Errorf("%s is not found", l.ID)
		}
	}
	for _, n := range []string{"take-ownership", "dont-interfere", "dont-share", "orphans-survive"} {
		if !names[n] {
			t.Errorf("no law has the name %s", n)
		}
	}
	for _, c := range clause.All() {
		if own := c.Sentence != ""; ByID(c.ID) == nil && !own && c.Invariant == "" || ByID(c.ID) != nil && own && c.Cases == nil {
			t.Errorf("%s has no sentence, or one in addition to its law's that no recorded case checks", c.ID)
		}
	}
}

// TestTakeoverByReplacing checks that a write that replaces the controller violates two laws, and then API-6.
func TestTakeoverByReplacing(t *testing.T) {
	a, b := set("a", 1), set("b", 1)
	p := pod("p", a)
	tp := &tape{}
	tp.exist(a, b, p)
	tp.sync("rs", b, func() { tp.commit("rs", "update", b, p, p.owned(controlledBy(b))) })
	var got []string
	for _, br := range judge(tp).Violations() {
		got = append(got, br.Law.ID)
	}
	if len(got) < 3 || got[0] != "LAW-1b" || got[1] != "LAW-2" || got[len(got)-1] != "API-6" {
		t.Errorf("broke %v, want LAW-1b, LAW-2 and API-6", got)
	}
}

func TestStrengthDecidesWhatFails(t *testing.T) {
	a, b := set("a", 1), set("b", 1)
	p := pod("p", b)
	tp := &tape{}
	tp.exist(a, b, p)
	tp.sync("rs", a, func() { tp.commit("rs", "delete", a, p, nil).Saw = p.owned(controlledBy(a)) })
	j := judge(tp)
	if len(j.Violations()) == 0 || j.First() != nil {
		t.Fatalf("first %v of %v", j.First(), j.Violations())
	}
	j.Strict = true
	if f := j.First(); f == nil || f.Law.ID != "LAW-2" || f.Text != "owned by rs/b" {
		t.Errorf("first under strict is %v", f)
	}
}

func TestSinceAndReset(t *testing.T) {
	a := set("a", 1)
	tp := &tape{}
	tp.exist(a)
	tp.commit("rs", "create", a, nil, pod("p", nil))
	tp.fault("rs", "switch")
	tp.commit("rs", "create", a, nil, pod("q", nil))
	j := judge(tp)
	if n := count(j, "LAW-1"); n != 2 {
		t.Fatalf("%d violations, want 2", n)
	}
	j.Since(2)
	if n := count(j, "LAW-1"); n != 1 {
		t.Errorf("%d violations since the switch, want 1", n)
	}
	j.Reset()
	if len(j.Violations()) != 0 || j.State().Object(a.UID) != nil || len(j.State().Kind("Pod")) != 0 {
		t.Error("violations remain after a reset")
	}
	tp.observed(j)
	if n := count(j, "LAW-1"); n != 2 {
		t.Errorf("%d violations in the second run, want 2", n)
	}
}

func count(j *Judge, id string) int {
	for _, v := range j.Verdicts() {
		if v.Law.ID == id {
			return v.Count
		}
	}
	return -1
}

const (
	orphanFinalizer     = metav1.FinalizerOrphanDependents
	foregroundFinalizer = metav1.FinalizerDeleteDependents
)
