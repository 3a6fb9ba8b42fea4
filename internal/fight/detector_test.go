package fight

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// feed passes steps to a detector. A letter is a step of a process. An upper-case letter is a write, followed by the
// state after it. "u" is a user action.
func feed(d *Detector, steps ...string) ([]int, bool) {
	for i, s := range steps {
		who, hash := s[:1], uint64(0)
		if len(s) > 1 {
			hash = uint64(s[1])
		}
		if cycle, found := d.Observe(hash, i, who, len(s) > 1, who == "u"); found {
			return cycle, true
		}
	}
	return nil, false
}

func TestDetector(t *testing.T) {
	for _, c := range []struct {
		name  string
		busy  []string
		steps []string
		cycle []int // nil if there is none
	}{
		{"two thrash", nil, []string{"a1", "b2", "a1"}, []int{1, 2}},
		{"reads in between", nil, []string{"a", "a1", "b", "b2", "a", "a1"}, []int{3, 5}},
		{"progress", nil, []string{"a1", "b2", "a3", "b4"}, nil},
		{"the user had a hand in it", nil, []string{"a1", "b2", "u", "a1"}, nil},
		{"one starves", []string{"a", "b", "c"}, []string{"c9", "a1", "b2", "a1", "b2"}, nil},
		{"one starves for a while", []string{"a", "b", "c"}, []string{"c9", "a1", "b2", "a1", "c", "b2"}, []int{3, 5}},
		{"one is done", []string{"a", "b"}, []string{"c9", "a1", "b2", "a1"}, []int{2, 3}},
		{"who acted once must act again", nil, []string{"c9", "a1", "b2", "a1"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &Detector{}
			if c.busy != nil {
				d.Busy = func() []string { return c.busy }
			}
			cycle, found := feed(d, c.steps...)
			if found != (c.cycle != nil) || !slices.Equal(cycle, c.cycle) {
				t.Errorf("cycle %v, %v; want %v", cycle, found, c.cycle)
			}
			if got := ParseCycle(CycleReason(cycle)); !slices.Equal(got, c.cycle) {
				t.Errorf("reads back as %v", got)
			}
		})
	}
}

func TestDetectorForgets(t *testing.T) {
	d := &Detector{Limit: 2}
	if _, found := feed(d, "a1", "a2", "a3", "a1"); found {
		t.Error("found a cycle longer than the limit")
	}
	if cycle, _ := feed(d, "u", "a1", "a2", "a1"); !slices.Equal(cycle, nil) {
		t.Errorf("cycle %v within a window of 2", cycle)
	}
	d.Limit = 0
	if cycle, _ := feed(d, "u", "a1", "a2", "a1"); !slices.Equal(cycle, []int{2, 3}) {
		t.Errorf("cycle %v, want the writes 2 and 3", cycle)
	}
}

// Each of many threads is checked separately: if one of seventy threads is starved, there is no fight.
func TestDetectorOfManyThreads(t *testing.T) {
	for _, starved := range []int{-1, 3, 63, 64, 69} {
		d := &Detector{}
		var all []string
		for i := range 70 {
			all = append(all, "t"+strconv.Itoa(i))
		}
		d.Busy = func() []string { return all }
		found := false
		for record := range 4 * 70 {
			i := record % 70
			if i == starved {
				continue
			}
			_, again := d.Observe(uint64(i%2), record, all[i], i < 2, false)
			found = found || again
		}
		if found != (starved < 0) {
			t.Errorf("if thread %d starves, a fight is found: %v", starved, found)
		}
	}
}

// A cycle contains only states that belong to it: detours are removed. A history keeps only the last 24 states.
func TestPath(t *testing.T) {
	far := ""
	for i := range 30 {
		far += " x" + strconv.Itoa(i)
	}
	for _, c := range []struct{ name, states, circles string }{
		{"there and back", "a b a b a", "b,a b,a"},
		{"the same again is no step", "a a b b a", "b,a"},
		{"a detour is no part of it", "a b c b a", "c,b b,a"},
		{"too long ago", "a" + far + " a", ""},
	} {
		var p Path[string]
		var got []string
		for i, s := range strings.Fields(c.states) {
			var words []string
			at := time.Unix(int64(i), 0)
			if i == 0 {
				p.Begin(sum(s), at)
				continue
			}
			for _, v := range p.Visit(Visit[string]{State: sum(s), By: "me", At: at, Words: s}) {
				words = append(words, v.Words)
			}
			if words != nil {
				got = append(got, strings.Join(words, ","))
			}
		}
		if strings.Join(got, " ") != c.circles {
			t.Errorf("%s: circles %q, want %q", c.name, got, c.circles)
		}
	}
}

func sum(s string) (n uint64) {
	for _, b := range []byte(s) {
		n = n*251 + uint64(b)
	}
	return n
}
