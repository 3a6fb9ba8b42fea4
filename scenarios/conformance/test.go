package conformance

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
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
	s, f, places := prepared(t, given)
	c := f.declared(s)
	t.Log("\n" + f.text(s))
	if file := flag.Lookup("threelaws.replay").Value.String(); file != "" {
		p := written(t, places, file)
		t.Run(p.name, func(t *testing.T) { simtest.Check(t, p.whole(s, c)) })
		return
	}
	var cases []tried
	for i := range places {
		cases = append(cases, places[i].try(t, s, c, asks(cases)))
	}
	verdicts := f.verdicts(s, c, cases)
	for i := range verdicts {
		verdicts[i].tell(t)
	}
	t.Log(summary(s.Profile, cases, verdicts))
}

// usual is how many schedules of a case are drawn: nearly all of the broken operators that
// the tests have are found in the first few.
const usual = 60

// prepared reads a subject, looks at it and derives its cases.
func prepared(t testing.TB, given Subject) (*subject, *found, []place) {
	t.Helper()
	s, err := load(given)
	if err != nil {
		t.Fatal(err)
	}
	if s.Schedules == 0 {
		s.Schedules = usual
		if testing.Short() {
			s.Schedules = usual / 4
		}
	}
	f, err := s.find()
	if err != nil {
		t.Fatal(err)
	}
	return s, f, f.worlds(s)
}

// find is look, with a controller that is wired wrongly told as an error.
func (s *subject) find() (f *found, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case host.Misuse:
			err = r
		default:
			panic(r)
		}
	}()
	return s.look()
}

// try explores a case, as a subtest.
func (p *place) try(t *testing.T, s *subject, c host.Controller, laws []*law.Law) tried {
	all := tried{name: p.name}
	t.Run(p.name, func(t *testing.T) {
		if p.why != "" {
			t.Skip(p.why)
		}
		whole := p.whole(s, c)
		whole.Laws = laws
		all.x = simtest.Check(t, whole)
	})
	return all
}

// tell says what became of a law, as a subtest.
func (v *verdict) tell(t *testing.T) {
	t.Run("laws/"+v.ID+"-"+v.Name, func(t *testing.T) {
		switch v.state {
		case held:
			t.Logf("held: asked %d times in %d cases%s", v.asked, v.worlds, v.why)
		case broken:
			t.Errorf("%s\n%s (%s)", v.why, v.Sentence, v.Source)
		default:
			t.Skip(v.state + ": " + v.why)
		}
	})
}

// written is the case that a failure file was written by: the directory is named by the
// test and it.
func written(t *testing.T, places []place, file string) *place {
	dir := filepath.Base(filepath.Dir(file))
	for i := range places {
		if dir == strings.ReplaceAll(t.Name()+"/"+places[i].name, "/", "-") {
			return &places[i]
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
	s, f, places := prepared(t, given)
	var names []string
	properties := map[string]func(*rapid.T){}
	for i := range places {
		if p := &places[i]; p.why == "" {
			c := p.whole(s, f.declared(s))
			names, properties[p.name] = append(names, p.name), c.Property()
		}
	}
	return func(t *rapid.T) { properties[rapid.SampledFrom(names).Draw(t, "case")](t) }
}

// Fuzz reads a fuzzer's bytes as a case, the first, and a schedule of it, the rest:
//
//	func FuzzOwnership(f *testing.F) { conformance.Fuzz(f, subject) }
func Fuzz(f *testing.F, given Subject) {
	f.Helper()
	s, found, places := prepared(f, given)
	var cases []func(*testing.T, []byte)
	for i := range places {
		if p := &places[i]; p.why == "" {
			c := p.whole(s, found.declared(s))
			f.Add([]byte{byte(len(cases)), 0, 1, 0, 2, 1, 0, 3, 1, 4, 1, 5, 9, 2, 6})
			cases = append(cases, c.Fuzz())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			cases[int(data[0])%len(cases)](t, data[1:])
		}
	})
}
