package hosted_test

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/upstream/hosted"
)

// world is a file of the library that is played by upstream's controllers.
type world struct {
	name  string // "overlap/victim-is-another"
	file  *scenarios.File
	until int // the steps before this one are the world
}

// inTheirPlace is the registry in which a plain name is upstream's own controller.
func inTheirPlace() *scenarios.Registry {
	g := builtin.Registry()
	g.Controllers = append(g.Controllers, hosted.Controllers()...)
	return builtin.Complete(g)
}

// ours is the library's own.
func ours() *scenarios.Registry { return builtin.Complete(builtin.Registry()) }

// strange is what in a file says that its world is none for upstream's controllers.
var strange = []struct {
	text *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`@|(?m)^switch `), "it is about older eras"},
	{regexp.MustCompile(`(?m)^managers `), "it is about instances of the manager"},
	{regexp.MustCompile(`(?m)^controllers .*(\bnamespace\b|\*)`), mapOrder + "the kinds in a namespace"},
	{regexp.MustCompile(`(?m)^controllers .*\bpodgc\b`), oneInstant},
}

const mapOrder = "upstream's controller goes in the order of a map, another in each run, through "

// unplayed are the worlds that are left out by name.
var unplayed = map[string]string{
	"daemonset/surge":                          mapOrder + "nodes",
	"daemonset/template-changes":               mapOrder + "nodes",
	"endpointslice/one-too-many":               mapOrder + "slices",
	"endpointslice/deleted-before-it-was-seen": unwatched,
	"overlap/first-seen-dying":                 unwatched,
}

const oneInstant = "upstream's controller has two timers due at one instant, and a bubble fires those in any order"

const unwatched = "it holds a watch before a program has opened it"

// worlds are the files of the library whose first exploration the right controllers
// survive, by the names of their directory and file; left is how many others there are, by
// why.
func worlds(t *testing.T) (all []world, left map[string]int) {
	left = map[string]int{}
	lib := scenarios.Library()
	err := fs.WalkDir(lib, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(at) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(lib, at)
		if err != nil {
			return err
		}
		f, err := scenarios.Parse(at, text)
		if err != nil {
			return err
		}
		w := world{name: strings.TrimSuffix(at, ".txtar"), file: f}
		w.until = slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return s.Verb == "explore" })
		if why := w.unplayed(string(text)); why != "" {
			left[why]++
			return nil
		}
		all = append(all, w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, left
}

// unplayed says why a world is none for upstream's controllers, "" where it is one.
func (w *world) unplayed(text string) string {
	if w.until < 0 || w.file.Steps[w.until].Expect {
		return "it is not explored with controllers that are right"
	}
	for _, s := range strange {
		if s.text.MatchString(text) {
			return s.why
		}
	}
	return unplayed[w.name]
}

// options are those with which the file itself explores its world, faults and all. What
// the file expects besides the laws is said of our controllers only.
func (w *world) options(t *testing.T) scenarios.ExploreOptions {
	o, err := w.file.Steps[w.until].ExploreOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.Strategy, o.LawsOnly, o.Workers = "mix", true, 1
	return o
}
