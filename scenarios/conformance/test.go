package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
)

// Test checks an operator against the laws of the subject's profile. Quiet runs show the operator's behavior, from
// which Test derives cases. Each case is a subtest, explored like [simtest.Check]: a failure is printed, written to
// testdata/threelaws, minimized, and in later tests replayed first. Each law is a subtest too. If no case exercised the
// law, its subtest is skipped with the reason.
//
// If the subject has a mistake, or the operator does nothing for the sample, Test reports this in one line and explores
// nothing. The flags are those of [simtest.Check].
func Test(t *testing.T, given Subject) {
	t.Helper()
	run := &running{Subject: given, samples: max(1, len(given.Samples)), until: given.until()}
	if len(given.Samples) < 2 {
		run.try(t, given.first())
	} else {
		for _, sample := range given.Samples {
			if !run.again {
				t.Run(filepath.Base(sample), func(t *testing.T) { run.try(t, sample) })
			}
			run.samples--
		}
	}
	if !run.again {
		run.unmet(t)
	}
}

// The defaults of a test: the number of schedules of each case, and the time for all cases together. Nearly all wrong
// operators in this module's tests are found in the first few schedules.
const (
	usual   = 60
	usually = time.Minute
)

func (s *Subject) first() string {
	if len(s.Samples) == 0 {
		return ""
	}
	return s.Samples[0]
}

func flagged(name string) any { return flag.Lookup("threelaws." + name).Value.(flag.Getter).Get() }

// divided reports whether the test is one shard of a campaign. Then all shards must explore the same worlds.
func divided() bool { return flagged("shard") != "" || flagged("results") != "" }

// until returns the time at which the cases must end; the zero time means no limit.
func (s *Subject) until() time.Time {
	given := cmp.Or(flagged("time").(time.Duration), s.Time)
	if given == 0 && s.Schedules == 0 && flagged("schedules").(int) == 0 {
		given = usually
	}
	if given == 0 {
		return time.Time{}
	}
	return time.Now().Add(given)
}

// prepared derives the cases for a sample. A mistake in the subject ends the test.
func (s Subject) prepared(t testing.TB, sample string) *check.Plan {
	t.Helper()
	if s.Schedules == 0 {
		s.Schedules = usual
		if testing.Short() {
			s.Schedules = usual / 4
		}
	}
	plan, err := s.prepare(sample)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

type running struct {
	Subject
	until   time.Time // the time at which the cases must end; zero for no limit
	samples int       // the number of samples that have not been tested yet
	met     []Accept  // the entries of Accept that matched a violation
	partial bool      // a case without Skip was not run, for lack of time or because of a flag
	again   bool      // the whole test has run again under the overlay
}

func (r *running) try(t *testing.T, sample string) {
	t.Helper()
	plan := r.prepared(t, sample)
	t.Log("\n" + plan.String())
	for _, note := range plan.Notes {
		t.Log(note)
	}
	if file := flag.Lookup("threelaws.replay").Value.String(); file != "" {
		r.partial = true
		c := written(plan.Cases, t.Name(), file)
		switch {
		case c != nil:
			t.Run(c.Name, func(t *testing.T) { simtest.Check(t, r.world(c, nil)) })
		case len(r.Samples) > 1:
			t.Skip("-threelaws.replay names a failure of another sample")
		default:
			t.Fatalf("-threelaws.replay: %s: no case of this test is written to a directory %s", file,
				filepath.Base(filepath.Dir(file)))
		}
		return
	}
	until := r.until
	if !until.IsZero() {
		until = time.Now().Add(time.Until(until) / time.Duration(r.samples))
	}
	var cases []check.Tried
	var cut, left []string
	for i := range plan.Cases {
		c := &plan.Cases[i]
		all := check.Tried{Name: c.Name}
		ran := t.Run(c.Name, func(t *testing.T) {
			if c.Skip != "" {
				t.Skip(c.Skip)
			}
			world := r.world(c, &all)
			if !until.IsZero() {
				if len(cases) > 0 && !time.Now().Before(until) {
					left = append(left, c.Name)
					t.Skip("left out: no time is left")
				}
				world.Time = max(time.Until(until)/time.Duration(toTry(plan.Cases[i:])), time.Millisecond)
			}
			before := cases
			if divided() {
				before = nil
			}
			now := c.World(before)
			world.Laws, world.SameEnd, world.Invariants = now.Laws, now.SameEnd, now.Invariants
			all.X = simtest.Check(t, world)
			r.again = all.X == nil
			if x := all.X; x != nil && !until.IsZero() && x.Schedules > 0 && x.Schedules < world.Schedules &&
				len(x.Failures) == 0 {
				cut = append(cut, fmt.Sprintf("%s (%d)", c.Name, x.Schedules))
			}
		})
		r.partial = r.partial || all.X == nil && c.Skip == ""
		if r.again || !ran && all.X == nil {
			return // the subject has a mistake, or two runs differed: every other case would fail too
		}
		cases = append(cases, all)
	}
	verdicts := plan.Verdicts(cases)
	for i := range verdicts {
		tell(t, &verdicts[i])
	}
	t.Log(plan.Summary(cases, verdicts))
	for _, short := range []struct {
		what  string
		cases []string
	}{{"cut short", cut}, {"left out", left}} {
		if len(short.cases) > 0 {
			t.Logf("%s for lack of -threelaws.time: %s", short.what, strings.Join(short.cases, ", "))
		}
	}
}

// world returns the world of a case. If tried is not nil, accepted violations are added to it when the world runs.
func (r *running) world(c *check.DerivedCase, tried *check.Tried) simtest.Case {
	w := simtest.Case(*c.World(nil))
	w.Accept = func(f *scenarios.Counterexample) string {
		for _, a := range r.Accept {
			if known := a.known(); !known.Is(c.Name, f) {
				continue
			}
			if !slices.Contains(r.met, a) {
				r.met = append(r.met, a)
			}
			if k := (check.Known{Law: a.Law, Reason: a.Reason}); tried != nil && !slices.Contains(tried.Known, k) {
				tried.Known = append(tried.Known, k)
			}
			return a.Reason
		}
		return ""
	}
	return w
}

// unmet logs the entries of Accept that matched no violation. It logs none if a case was not run.
func (r *running) unmet(t *testing.T) {
	for _, a := range r.Accept {
		if !r.partial && !divided() && !slices.Contains(r.met, a) {
			t.Logf("Accept: no violation of %s matched this entry: remove it if it is fixed", a.Law)
		}
	}
}

func tell(t *testing.T, v *check.Verdict) {
	name := v.ID
	if v.Name != v.ID { // the name and the ID of an invariant are equal
		name += "-" + v.Name
	}
	t.Run("laws/"+name, func(t *testing.T) {
		switch v.State {
		case check.Held:
			t.Logf("held: evaluated %d times in %d cases%s", v.Exercised, v.Worlds, v.Why)
		case check.Violated:
			t.Errorf("%s %s\n%s (%s)", v.State, v.Why, v.Sentence, v.Source)
		default:
			t.Skip(v.State + ": " + v.Why)
		}
	})
}

// written returns the case that wrote a failure's file, or nil. The directory of the file is named after test and case.
func written(cases []check.DerivedCase, test, file string) *check.DerivedCase {
	dir := filepath.Base(filepath.Dir(file))
	for i := range cases {
		if dir == strings.ReplaceAll(test+"/"+cases[i].Name, "/", "-") {
			return &cases[i]
		}
	}
	return nil
}

// each returns the worlds of all cases that are not skipped, for all samples.
func (s Subject) each(t testing.TB) (names []string, worlds []simtest.Case) {
	t.Helper()
	for i := range max(1, len(s.Samples)) {
		sample := s.first()
		if i > 0 {
			sample = s.Samples[i]
		}
		plan, run := s.prepared(t, sample), &running{Subject: s}
		for k := range plan.Cases {
			c := &plan.Cases[k]
			if c.Skip != "" {
				continue
			}
			name := c.Name
			if len(s.Samples) > 1 {
				name = filepath.Base(sample) + "/" + name
			}
			names, worlds = append(names, name), append(worlds, run.world(c, nil))
		}
	}
	return names, worlds
}

// Property returns a property for rapid, which chooses a case and a schedule and shrinks failures:
//
//	rapid.Check(t, conformance.Property(t, subject))
func Property(t testing.TB, given Subject) func(*rapid.T) {
	t.Helper()
	names, worlds := given.each(t)
	properties := map[string]func(*rapid.T){}
	for i := range worlds {
		properties[names[i]] = worlds[i].Property()
	}
	return func(t *rapid.T) { properties[rapid.SampledFrom(names).Draw(t, "case")](t) }
}

// Fuzz fuzzes the cases of a subject. The first byte of the input selects the case, the other bytes decide the
// schedule:
//
//	func FuzzOwnership(f *testing.F) { conformance.Fuzz(f, subject) }
func Fuzz(f *testing.F, given Subject) {
	f.Helper()
	_, worlds := given.each(f)
	var cases []func(*testing.T, []byte)
	for i := range worlds {
		f.Add([]byte{byte(i), 0, 1, 0, 2, 1, 0, 3, 1, 4, 1, 5, 9, 2, 6})
		cases = append(cases, worlds[i].Fuzz())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			cases[int(data[0])%len(cases)](t, data[1:])
		}
	})
}

// toTry returns the number of cases that are not skipped.
func toTry(cases []check.DerivedCase) (n int) {
	for i := range cases {
		if cases[i].Skip == "" {
			n++
		}
	}
	return n
}
