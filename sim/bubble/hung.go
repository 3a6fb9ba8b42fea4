package bubble

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/threelaws/threelaws/sim/host"
)

// bubbled is the head of a goroutine's stack in a bubble: what it waits for, and where.
var bubbled = regexp.MustCompile(`^goroutine \d+ \[([^\]]*), (synctest bubble \d+)\]:`)

// bubbleHere is the name of the bubble that the calling goroutine is in.
func bubbleHere() string {
	var head [128]byte
	if m := bubbled.FindSubmatch(head[:runtime.Stack(head[:], false)]); m != nil {
		return string(m[2])
	}
	panic("bubble: the runtime prints stacks otherwise than is known here: " + string(head[:]))
}

// stacks are those of the programs' goroutines.
func (r *room) stacks() []string {
	text := make([]byte, 1<<24)
	text = text[:runtime.Stack(text, true)]
	var all []string
	for g := range strings.SplitSeq(string(text), "\n\n") {
		m := bubbled.FindStringSubmatch(g)
		if m == nil || m[2] != r.name || strings.Contains(g, "bubble.(*room).live") ||
			strings.Contains(g, "created by testing/synctest.Test") {
			continue
		}
		all = append(all, strings.TrimSpace(g))
	}
	return all
}

// hung words what the goroutines of a bubble are at that does not come to rest: those that
// run, and those that wait for a mutex.
func (r *room) hung() host.Misuse {
	var at []string
	for _, g := range r.stacks() {
		if state := bubbled.FindStringSubmatch(g)[1]; !strings.Contains(state, "(durable)") {
			at = append(at, g)
		}
	}
	if len(at) == 0 {
		at = append(at, "no goroutine of it is seen to run")
	}
	return host.Misuse(fmt.Sprintf("a program has not come to rest after %s: it never waits, or one of its goroutines "+
		"holds a mutex while it waits for an answer that another goroutine wants:\n%s", patience,
		strings.Join(at, "\n\n")))
}

// leaked words which goroutines outlive their program.
func leaked(stacks []string) host.Misuse {
	const most = 3
	more := ""
	if n := len(stacks) - most; n > 0 {
		stacks, more = stacks[:most], fmt.Sprintf("\n\nand %d more", n)
	}
	return host.Misuse("goroutines outlive their program: its context has ended, and they wait for ever:\n" +
		strings.Join(stacks, "\n\n") + more)
}
