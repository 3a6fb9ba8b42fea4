package conformance

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios/simtest"
)

// Test holds a controller to the laws of its profile. It runs it in quiet worlds first,
// to find out what it is like; from that it derives the cases, each of which is a subtest
// and is explored as by [simtest.Check]: what it finds is made small, printed, left under
// testdata/threelaws and replayed first the next time. Each law is a subtest as well,
// which is skipped, with the reason, where no case asked it.
//
// A mistake in the subject, and a controller that does nothing for the sample, are told in
// one line before anything is explored. The flags are those of simtest:
// -threelaws.schedules, .seed, .exhaustive, .replay and .failures.
func Test(t *testing.T, given Subject) {
	t.Helper()
	plan := prepared(t, given)
	t.Log("\n" + plan.String())
	if file := flag.Lookup("threelaws.replay").Value.String(); file != "" {
		c := written(t, plan.Cases, file)
		t.Run(c.Name, func(t *testing.T) { simtest.Check(t, simtest.Case(*c.World(nil))) })
		return
	}
	var cases []check.Tried
	for i := range plan.Cases {
		cases = append(cases, try(t, &plan.Cases[i], cases))
	}
	verdicts := plan.Verdicts(cases)
	for i := range verdicts {
		tell(t, &verdicts[i])
	}
	t.Log(plan.Summary(cases, verdicts))
}

// usual is how many schedules of a case are drawn: nearly all of the broken operators that
// the tests have are found in the first few.
const usual = 60

// prepared is prepare, where a mistake ends the test.
func prepared(t testing.TB, given Subject) *check.Plan {
	t.Helper()
	if given.Schedules == 0 {
		given.Schedules = usual
		if testing.Short() {
			given.Schedules = usual / 4
		}
	}
	plan, err := given.prepare()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// try explores a case, as a subtest.
func try(t *testing.T, c *check.Case, before []check.Tried) check.Tried {
	all := check.Tried{Name: c.Name}
	t.Run(c.Name, func(t *testing.T) {
		if c.Skip != "" {
			t.Skip(c.Skip)
		}
		all.X = simtest.Check(t, simtest.Case(*c.World(before)))
	})
	return all
}

// tell says what became of a law, as a subtest.
func tell(t *testing.T, v *check.Verdict) {
	t.Run("laws/"+v.ID+"-"+v.Name, func(t *testing.T) {
		switch v.State {
		case check.Held:
			t.Logf("held: asked %d times in %d cases%s", v.Asked, v.Worlds, v.Why)
		case check.Broken:
			t.Errorf("%s\n%s (%s)", v.Why, v.Sentence, v.Source)
		default:
			t.Skip(v.State + ": " + v.Why)
		}
	})
}

// written is the case that a failure file was written by: the directory is named by the
// test and it.
func written(t *testing.T, cases []check.Case, file string) *check.Case {
	dir := filepath.Base(filepath.Dir(file))
	for i := range cases {
		if dir == strings.ReplaceAll(t.Name()+"/"+cases[i].Name, "/", "-") {
			return &cases[i]
		}
	}
	t.Fatalf("-threelaws.replay: %s: no case of this test is written to a directory %s", file, dir)
	return nil
}

// Property draws a case and a schedule of it with rapid, which makes a failing one small:
//
//	rapid.Check(t, conformance.Property(t, subject))
func Property(t testing.TB, given Subject) func(*rapid.T) {
	t.Helper()
	plan := prepared(t, given)
	var names []string
	properties := map[string]func(*rapid.T){}
	for i := range plan.Cases {
		if c := &plan.Cases[i]; c.Skip == "" {
			world := simtest.Case(*c.World(nil))
			names, properties[c.Name] = append(names, c.Name), world.Property()
		}
	}
	return func(t *rapid.T) { properties[rapid.SampledFrom(names).Draw(t, "case")](t) }
}

// Fuzz reads a fuzzer's bytes as a case, the first, and a schedule of it, the rest:
//
//	func FuzzOwnership(f *testing.F) { conformance.Fuzz(f, subject) }
func Fuzz(f *testing.F, given Subject) {
	f.Helper()
	plan := prepared(f, given)
	var cases []func(*testing.T, []byte)
	for i := range plan.Cases {
		if c := &plan.Cases[i]; c.Skip == "" {
			world := simtest.Case(*c.World(nil))
			f.Add([]byte{byte(len(cases)), 0, 1, 0, 2, 1, 0, 3, 1, 4, 1, 5, 9, 2, 6})
			cases = append(cases, world.Fuzz())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			cases[int(data[0])%len(cases)](t, data[1:])
		}
	})
}
