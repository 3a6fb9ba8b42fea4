package bubble

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/goroutine"
)

// numberHere returns the number of the calling goroutine. On one processor, goroutines are numbered in the
// order of their start, whichever runs first.
func numberHere() uint64 {
	var head [64]byte
	text, _ := strings.CutPrefix(string(head[:runtime.Stack(head[:], false)]), "goroutine ")
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		panic("bubble: the runtime prints stacks otherwise than is known here: " + string(head[:]))
	}
	return n
}

// whence returns the line of the controller that is being executed.
func whence() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !goroutine.Within(f.Function) {
			return goroutine.Place(f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}

// frame matches a function and its line in a stack, or the function that started the goroutine.
var frame = regexp.MustCompile(`(?m)^(created by )?(\S[^\n]*)\n\t(\S+):(\d+)`)

// waiting describes what the goroutines of the bubble wait for, and where, without differences between runs.
func (r *room) waiting() string {
	var all []string
	for _, g := range r.stacks() {
		state, _, _ := strings.Cut(bubbled.FindStringSubmatch(g)[1], ",")
		state = strings.TrimSuffix(state, " (durable)")
		at, by := "", ""
		for _, f := range frame.FindAllStringSubmatch(g, -1) {
			line, _ := strconv.Atoi(f[4])
			switch {
			case f[1] != "":
				if !goroutine.Within(f[2]) {
					by = ", started at " + goroutine.Place(f[3], line)
				}
			case at == "" && !goroutine.Within(f[2]):
				at = " at " + goroutine.Place(f[3], line)
			}
		}
		if at != "" {
			all = append(all, fmt.Sprintf("a goroutine is in %s%s%s", state, at, by))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}
