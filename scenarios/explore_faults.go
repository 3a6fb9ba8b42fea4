package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim/host"
)

// ParseFaults reads "crash:1,relist:2"; a name alone means one. The string says
// what is wrong, "" when nothing is.
func ParseFaults(text string) (map[string]int, string) {
	counts := map[string]int{}
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(part, ":")
		n := 1
		if ok {
			var err error
			if n, err = strconv.Atoi(number); err != nil || n < 0 {
				return nil, number + " is not a number of faults"
			}
		}
		if !slices.Contains(host.FaultNames, name) {
			return nil, "unknown fault " + name + suggest(name, host.FaultNames)
		}
		counts[name] += n
	}
	return counts, ""
}

// faults reads the fault budget of a step that was checked, nil for none.
func (s *Step) faults() map[string]int {
	v, ok := s.Param("faults")
	if !ok {
		return nil
	}
	counts, _ := ParseFaults(v)
	return counts
}

// faultsArg is the argument that [ParseFaults] reads, "" for no faults.
func faultsArg(faults map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		parts = append(parts, fmt.Sprintf("%s:%d", name, faults[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " faults=" + strings.Join(parts, ",")
}
