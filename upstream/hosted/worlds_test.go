package hosted_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
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
	g := cli.Builtin()
	g.Controllers = append(g.Controllers, hosted.Controllers()...)
	return cli.Complete(g)
}

// ours is the library's own.
func ours() *scenarios.Registry { return cli.Complete(cli.Builtin()) }

// strange are the words in a file that say that its world is about controllers which
// upstream's do not stand for.
var strange = []struct{ word, why string }{
	{"@", "it is about older generations"},
	{"\nswitch ", "it is about older generations"},
	{"\nmanagers ", "it is about instances of the manager"},
}

// unplayed are the worlds that are left out by name.
var unplayed = map[string]string{}

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
		if strings.Contains(text, s.word) {
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
