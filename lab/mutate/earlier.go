package mutate

import (
	"fmt"
	"os"
	"strings"
)

// How the killed ones are printed.
const (
	killedBegins = "killed: "
	byBegins     = "    by "
)

// place is what names a mutation whatever line it is in.
func (m *Mutation) place() string { return m.File + " " + m.Func + ": " + m.What }

// killedEarlier is what an earlier run has killed, with the check that did it, by place.
func (o *Options) killedEarlier() (map[string]string, error) {
	if o.Again == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(o.Again)
	if err != nil {
		return nil, err
	}
	killers, last := map[string]string{}, ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if m, ok := strings.CutPrefix(line, killedBegins); ok {
			file, rest, _ := strings.Cut(m, ":")
			_, what, _ := strings.Cut(rest, " ")
			last = file + " " + what
		} else if by, ok := strings.CutPrefix(line, byBegins); ok {
			killers[last] = by
		}
	}
	if len(killers) == 0 {
		return nil, fmt.Errorf("%s: it lists no mutant as killed: it is to be the output of a run with -v", o.Again)
	}
	return killers, nil
}
