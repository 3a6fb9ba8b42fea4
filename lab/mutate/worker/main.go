// Command worker runs scenario files against one mutant after another; see package
// mutate. It is built with an overlay that has all mutants.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/lab/mutate/switches"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

func main() {
	if len(os.Args) > 2 { // the argument "quick"
		parts = parts[:1]
	}
	checks, err := checksOf(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	switches.Serve(checks)
}

type part struct {
	name  string
	verbs []string // which of the verbs explore and mutant this part keeps; it keeps all other verbs
}

var parts = []part{
	{"", nil},                        // without explore and mutant steps, under the default schedule
	{"explore", []string{"explore"}}, // the default schedule and a few others
	{"mutant", []string{"mutant"}},   // each mutant step must still find its handmade mutant
}

// few is the number of schedules that a step explores. It is small, because a surviving mutant is tried with all files.
const few = 5

// checksOf returns each part of each scenario file below a directory as a check. Checks are sorted by part.
func checksOf(dir string) ([]switches.Check, error) {
	list := make([][]switches.Check, len(parts))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, p := range parts {
			f, err := p.of(filepath.ToSlash(path), src)
			if err != nil {
				return err
			}
			if f != nil {
				name := strings.TrimSpace(f.Name + " " + p.name)
				list[i] = append(list[i], switches.Check{Name: name, Run: func() error { return run(f) }})
			}
		}
		return nil
	})
	return slices.Concat(list...), err
}

var schedules = regexp.MustCompile(`(?m)^((?:! )?explore .*)schedules=\d+`)

// of returns this part of a file, or nil if the file lacks it.
func (p part) of(name string, src []byte) (*scenarios.File, error) {
	if p.name == "explore" {
		src = schedules.ReplaceAll(src, fmt.Appendf(nil, "${1}schedules=%d", few))
	}
	f, err := scenarios.Parse(name, src)
	if err != nil {
		return nil, err
	}
	n := 0
	f.Steps = slices.DeleteFunc(f.Steps, func(s *scenarios.Step) bool {
		if s.Verb != "explore" && s.Verb != "mutant" {
			return false
		}
		if !slices.Contains(p.verbs, s.Verb) {
			return true
		}
		if s.Verb == "explore" {
			if s.Expect {
				return true // too few schedules are run to expect a violation
			}
			// The golden text depends on the number of schedules, except with strategy=exhaustive.
			s.HasGolden = s.HasGolden && strings.Contains(s.String(), "strategy=exhaustive")
		}
		n++
		return false
	})
	if p.name != "" && n == 0 {
		return nil, nil
	}
	return f, nil
}

// run runs a file and returns the first error, or nil. It uses a new registry, because constructors of controllers are
// mutated too.
func run(f *scenarios.File) error {
	if res := scenarios.Interpret(f, scenarios.Options{Registry: builtin.Registry()}); len(res.Errors) > 0 {
		return res.Errors[0]
	}
	return nil
}
