package sim

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// once is an actor that offers each of its actions until it is taken.
type once struct {
	name  string
	class Class
	left  []string
	took  *[]string
}

func (s *once) Name() string { return s.name }
func (s *once) Offer(into []Action) []Action {
	for i, d := range s.left {
		into = append(into, Action{Class: s.class, Actor: s.name, Detail: d, Slot: i})
	}
	return into
}
func (s *once) Take(a Action) {
	s.left = slices.Delete(slices.Clone(s.left), a.Slot, a.Slot+1)
	*s.took = append(*s.took, a.Key())
}
func (s *once) Footprint(Action) Footprint { return Footprint{Process: s.name} }

// list replays recorded picks, and then picks 0. A pick out of range is taken modulo n, so every list is a schedule.
type list struct {
	picks []int
	pos   int
}

func (l *list) Pick(n int, _ string) int {
	if l.pos >= len(l.picks) {
		return 0
	}
	p := l.picks[l.pos]
	l.pos++
	if p < 0 {
		p = -p
	}
	return p % n
}

func runAll(w *World) {
	for w.Step() {
	}
}

// In the default schedule, responses come before deliveries, deliveries before work, and time passes last. No fault
// happens.
func TestDefaultOrder(t *testing.T) {
	var took []string
	w := New(Zero{})
	w.Clock.After(time.Second, "p", "ring", func() { took = append(took, "ring") })
	for _, c := range []Class{Fault, Work, Deliver, User, Execute, Respond} {
		w.Add(&once{name: c.String() + "er", class: c, left: []string{"a"}, took: &took})
	}
	runAll(w)
	want := []string{"respond responder a", "execute executeer a", "deliver deliverer a", "work worker a",
		"user userer a", "ring"}
	if !slices.Equal(took, want) {
		t.Errorf("took %q, want %q", took, want)
	}
	if w.Clock.Elapsed() != time.Second || !w.Quiet() {
		t.Errorf("elapsed %v, quiet %v", w.Clock.Elapsed(), w.Quiet())
	}
}

// If only faults are enabled, the pick 0 takes no action.
func TestFaultsAreAChoice(t *testing.T) {
	for picks, want := range map[int]int{0: 0, 1: 1} {
		var took []string
		w := New(&list{picks: []int{picks}})
		w.Add(&once{name: "f", class: Fault, left: []string{"x"}, took: &took})
		runAll(w)
		if len(took) != want {
			t.Errorf("pick %d: took %q", picks, took)
		}
	}
}

// Equal picks give equal hashes at every step. Another pick changes the hash.
func TestHashFollowsChoices(t *testing.T) {
	trail := func(picks ...int) []uint64 {
		var took []string
		w := New(&list{picks: picks})
		for _, n := range []string{"p", "q"} {
			w.Add(&once{name: n, class: Work, left: []string{"a", "b"}, took: &took})
		}
		var hashes []uint64
		for w.Step() {
			hashes = append(hashes, w.Hash())
		}
		return hashes
	}
	if a, b := trail(1, 2, 1), trail(1, 2, 1); !slices.Equal(a, b) {
		t.Errorf("equal picks have the hashes %x and %x", a, b)
	}
	a, b := trail(1, 2, 1), trail(1, 1, 1)
	if a[0] != b[0] || a[1] == b[1] || a[3] == b[3] {
		t.Errorf("different picks have the hashes %x and %x", a, b)
	}
}

func TestKeysRoundTrip(t *testing.T) {
	for _, a := range []Action{
		{Class: Execute, Actor: "replicaset"}, {Class: Deliver, Actor: "replicaset#2", Detail: "Pod"},
		{Class: Timer, Actor: "gc", Detail: "requeue default/web a"},
	} {
		if b, ok := ParseKey(a.Key()); !ok || !b.Same(a) {
			t.Errorf("%q was parsed as %+v", a.Key(), b)
		}
	}
	for _, s := range []string{"", "execute", "run replicaset", "deliver "} {
		if a, ok := ParseKey(s); ok {
			t.Errorf("%q was read as %+v", s, a)
		}
	}
}

// Timers fire in the order of their times, and at the same time in the order of their keys. A stopped timer does not
// fire.
func TestClock(t *testing.T) {
	var rang []string
	w := New(Zero{})
	set := func(d time.Duration, owner, label string) *Alarm {
		return w.Clock.After(d, owner, label, func() { rang = append(rang, owner+" "+label) })
	}
	set(2*time.Second, "b", "x")
	set(time.Second, "b", "late")
	set(time.Second, "a", "late")
	set(time.Second, "a", "early")
	gone := set(time.Second, "a", "never")
	set(3*time.Second, "dead", "x")
	w.Clock.StopAll("dead")
	if !w.Clock.Stop(gone) || w.Clock.Stop(gone) {
		t.Error("an alarm could be stopped twice")
	}
	runAll(w)
	if want := []string{"a early", "a late", "b late", "b x"}; !slices.Equal(rang, want) {
		t.Errorf("fired %q, want %q", rang, want)
	}
	if got := w.Clock.Now().Sub(Epoch); got != 2*time.Second {
		t.Errorf("the clock shows %v", got)
	}
}

// Timers that Advance makes overdue fire at the time to which it has moved the clock.
func TestAdvance(t *testing.T) {
	w := New(Zero{})
	var at []time.Duration
	for _, d := range []time.Duration{1, 2, 9} {
		w.Clock.After(d*time.Second, "p", "x", func() { at = append(at, w.Clock.Elapsed()) })
	}
	w.Clock.Advance(5 * time.Second)
	runAll(w)
	if want := []time.Duration{5 * time.Second, 5 * time.Second, 9 * time.Second}; !slices.Equal(at, want) {
		t.Errorf("fired at %v, want %v", at, want)
	}
}

// A history holds at most 2*Forget records, and Index continues to count. Observers see every record once.
func TestForget(t *testing.T) {
	w := New(Zero{})
	w.History.Forget = 10
	seen := &counter{}
	w.Observers = append(w.Observers, seen)
	for i := range 1000 {
		w.Do("note", func() { w.Record(Record{Op: Read, Version: uint64(i)}) })
		if n := len(w.History.Records); n > 20 {
			t.Fatalf("%d records held", n)
		}
	}
	if seen.n != 1000 || w.History.Len() != 1000 || w.History.At(0) != nil || w.History.At(999).Version != 999 {
		t.Errorf("seen %d, len %d", seen.n, w.History.Len())
	}
}

type counter struct{ n int }

func (c *counter) Observe(r *Record) {
	if r.Index != c.n {
		panic("a record was skipped")
	}
	c.n++
}

// Every source of choices stays in range. A seed always gives the same stream.
func TestChoices(t *testing.T) {
	s := NewSeed(1)
	var drawn []int
	for range 8 {
		drawn = append(drawn, s.Pick(10, ""))
	}
	if want := []int{5, 7, 9, 4, 4, 7, 8, 5}; !slices.Equal(drawn, want) {
		t.Errorf("seed 1 draws %v, want %v: recorded schedules are no longer valid", drawn, want)
	}
	for _, c := range []Choices{Zero{}, NewSeed(7), &list{picks: []int{-5, 300, 7}}} {
		for _, n := range []int{1, 2, 3, 300, 7} {
			if p := c.Pick(n, "x"); p < 0 || p >= n {
				t.Errorf("%T: pick %d of %d", c, p, n)
			}
		}
	}
}

func TestFootprints(t *testing.T) {
	get := Footprint{Process: "p", Kind: "Pod", Object: "d/a"}
	write := Footprint{Process: "q", Kind: "Pod", Object: "d/b", Write: true}
	for _, c := range []struct {
		a, b Footprint
		want bool
	}{
		{get, write, true},
		{get, Footprint{Process: "q", Kind: "Pod", Object: "d/a", Write: true}, false},
		{get, Footprint{Process: "q", Kind: "Pod", Object: "d/a"}, true},
		{write, Footprint{Process: "p", Kind: "Pod", Object: "d/c", Write: true}, false},
		{write, Footprint{Process: "p", Kind: "ReplicaSet", Object: "d/b", Write: true}, true},
		{write, Footprint{Process: "p", Kind: "Pod"}, false},
		{get, Footprint{Process: "p"}, false},
		{get, Footprint{Global: true}, false},
	} {
		if c.a.Independent(c.b) != c.want || c.b.Independent(c.a) != c.want {
			t.Errorf("%+v and %+v: independent %v", c.a, c.b, !c.want)
		}
	}
}

// Equal strings and bytes have equal digests. Similar ones have different digests.
func TestHashStrings(t *testing.T) {
	seen := map[uint64]string{}
	for _, s := range []string{"", "a", "b", "aa", "abcdefgh", "abcdefgi", "abcdefgha", "\x00", "\x00\x00",
		strings.Repeat("x", 64), strings.Repeat("x", 65)} {
		h := HashString(s)
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have the same digest", s, other)
		}
		seen[h] = s
		if HashBytes([]byte(s)) != h {
			t.Errorf("%q: the bytes have another digest", s)
		}
	}
}

// A timer within the horizon is offered after everything except faults, even if other actions are possible. It does
// not change the numbers of the other choices.
func TestEarlyTimers(t *testing.T) {
	world := func(c Choices, horizon time.Duration) (*World, *[]string) {
		took := &[]string{}
		w := New(c)
		w.Clock.Horizon = horizon
		w.Clock.After(5*time.Millisecond, "p", "retry", func() { *took = append(*took, "retry") })
		w.Clock.After(time.Second, "p", "later", func() { *took = append(*took, "later") })
		w.Add(&once{name: "w", class: Work, left: []string{"a", "b"}, took: took})
		w.Add(&once{name: "f", class: Fault, left: []string{"x"}, took: took})
		return w, took
	}
	for _, c := range []struct {
		horizon time.Duration
		want    string
	}{
		{0, "work w a|work w b|timer p retry|fault f x"},
		{time.Second, "work w a|work w b|timer p retry|fault f x"},
		{time.Millisecond, "work w a|work w b|fault f x"},
	} {
		w, _ := world(Zero{}, c.horizon)
		var keys []string
		for _, a := range w.Enabled() {
			keys = append(keys, a.Key())
		}
		if got := strings.Join(keys, "|"); got != c.want {
			t.Errorf("horizon %v: enabled are %s, want %s", c.horizon, got, c.want)
		}
	}
	early := 3 * odds(5*time.Millisecond) // two actions of workers and a fault
	for pick, want := range map[int]string{0: "work w a", 1: "work w b", 2: "fault f x", 3: "work w a",
		early: "retry"} {
		w, took := world(&list{picks: []int{pick}}, 0)
		w.Step()
		if got := strings.Join(*took, " "); got != want {
			t.Errorf("pick %d took %s, want %s", pick, got, want)
		}
	}
	if odds(0) != 1 || odds(time.Second) <= odds(5*time.Millisecond) || odds(5*time.Minute) <= odds(time.Second) ||
		odds(1000*time.Hour) != mostOdds {
		t.Error("the odds against a timer do not grow with its jump, up to a bound")
	}
}

// If an event on the other clock stops the alarm that is to fire, the alarm does not fire.
func TestAlarmStoppedOnTheWay(t *testing.T) {
	w := New(nil)
	var fired []string
	fire := func(name string) func() { return func() { fired = append(fired, name) } }
	first := w.Clock.After(time.Second, "", "first", fire("first"))
	w.Clock.Beside = func(to time.Duration) time.Duration {
		if w.Clock.Stop(first) {
			w.Clock.After(2*time.Second, "", "second", fire("second"))
		}
		return to
	}
	runAll(w)
	if got := strings.Join(fired, " "); got != "second" {
		t.Errorf("fired %q", got)
	}
}

// In random runs, no early timer moves the clock beyond the horizon.
func TestHorizonHoldsInDrawnRuns(t *testing.T) {
	for seed := range uint64(200) {
		var took []string
		w := New(NewSeed(seed))
		w.Clock.Horizon = 10 * time.Millisecond
		w.Add(&once{name: "w", class: Work, left: []string{"a", "b", "c"}, took: &took})
		for _, d := range []time.Duration{5, 20} {
			w.Clock.After(d*time.Millisecond, "p", d.String(), func() {
				if w.Clock.Elapsed() > w.Clock.Horizon && len(took) < 3 {
					t.Errorf("seed %d: at %v after %q", seed, w.Clock.Elapsed(), took)
				}
			})
		}
		runAll(w)
	}
}
