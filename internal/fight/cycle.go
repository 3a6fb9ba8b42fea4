package fight

import (
	"strconv"
	"strings"
)

// CycleReason renders the records of a cycle for the Reason of a Fighting record:
// "3,5".
func CycleReason(cycle []int) string {
	var b strings.Builder
	for i, n := range cycle {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// ParseCycle reads what [CycleReason] renders.
func ParseCycle(s string) []int {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}
