package cli

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
)

// pins is what scenario files say of laws and mutants.
type pins struct {
	laws    map[string][]string // clause -> files whose comments name it
	mutants map[string][]killing
}

// killing is a step that means to kill a mutant.
type killing struct {
	path string
	line int
}

// pins reads all scenario files below a directory, see [shelf.all]. Without one
// there are no pins; a file that cannot be read has none, which run will say.
func (s *shelf) pins(dir string) (*pins, error) {
	p := &pins{laws: map[string][]string{}, mutants: map[string][]killing{}}
	files, err := s.all(dir)
	if err != nil {
		return nil, usage("%v", err)
	}
	for _, name := range files {
		if f, err := s.read(name); err == nil {
			p.add(f)
		}
	}
	return p, nil
}

func (p *pins) add(f *scenarios.File) {
	for line := range strings.Lines(string(f.Format())) {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if line[0] != '#' {
			continue
		}
		for _, id := range clause.In(line) {
			if !slices.Contains(p.laws[id], f.Name) {
				p.laws[id] = append(p.laws[id], f.Name)
			}
		}
	}
	for _, s := range f.Steps {
		if s.Verb == "mutant" {
			p.mutants[s.Word(0)] = append(p.mutants[s.Word(0)], killing{f.Name, s.Line})
		}
	}
}
