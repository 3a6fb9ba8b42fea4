package cli

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
)

// pins holds, for each clause, the scenario files whose comments name it.
type pins map[string][]string

// pins reads all scenario files below a directory, see [shelf.all]. Without a
// directory there are no pins. A file that cannot be read has none; run reports it.
func (s *shelf) pins(dir string) (pins, error) {
	p := pins{}
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

func (p pins) add(f *scenarios.File) {
	for line := range strings.Lines(string(f.Format())) {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if line[0] != '#' {
			continue
		}
		for _, id := range clause.In(line) {
			if !slices.Contains(p[id], f.Name) {
				p[id] = append(p[id], f.Name)
			}
		}
	}
}
