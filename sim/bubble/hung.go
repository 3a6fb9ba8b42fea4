package bubble

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/threelaws/threelaws/sim/host"
)

// hung words what the goroutines of a bubble are at that does not come to rest: those that
// run, and those that wait for a mutex.
func hung() host.Misuse {
	stacks := make([]byte, 1<<22)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var at []string
	for _, g := range strings.Split(string(stacks), "\n\n") {
		head, rest, _ := strings.Cut(g, "\n")
		if !strings.Contains(head, "synctest bubble") || strings.Contains(head, "durable") {
			continue
		}
		if strings.Contains(rest, "bubble.(*room).live") {
			continue
		}
		at = append(at, head+"\n"+rest)
	}
	if len(at) == 0 {
		at = append(at, "no goroutine of it is seen to run")
	}
	return host.Misuse(fmt.Sprintf("a program has not come to rest after %s: it never waits, or holds a mutex while it "+
		"waits for an answer:\n%s", Patience, strings.Join(at, "\n\n")))
}
