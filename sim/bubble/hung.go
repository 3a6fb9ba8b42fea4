package bubble

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/goroutine"
	"github.com/threelaws/threelaws/sim/host"
)

// bubbled matches the first line of a goroutine in a dump of stacks. Its groups are the goroutine's state and the
// bubble.
var bubbled = regexp.MustCompile(`^goroutine \d+ \[([^\]]*), (synctest bubble \d+)\]:`)

func bubbleHere() string {
	var head [128]byte
	if m := bubbled.FindSubmatch(head[:runtime.Stack(head[:], false)]); m != nil {
		return string(m[2])
	}
	panic("bubble: the runtime prints stacks otherwise than is known here: " + string(head[:]))
}

// stacks returns the stacks of the programs' goroutines in the bubble.
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

// hung returns the error for a bubble that does not settle. runs is true if a goroutine never waits.
func (r *room) hung() (why host.Misuse, runs bool) {
	var at, holders []string
	reasons := map[string]bool{}
	for _, g := range r.stacks() {
		state, durable := strings.CutSuffix(bubbled.FindStringSubmatch(g)[1], " (durable)")
		switch {
		case !durable:
			at, reasons[reason(state)] = append(at, g), true
		case strings.Contains(g, asks):
			holders = append(holders, g)
		}
	}
	text := strings.Join(slices.Sorted(maps.Keys(reasons)), ", and ")
	if len(at) == 0 {
		text = "no goroutine of it is seen to run"
	}
	text = fmt.Sprintf("a program has not settled after %s: %s:\n%s", patience, text, strings.Join(at, "\n\n"))
	if reasons[locked] && len(holders) > 0 {
		text += "\n\nthese wait for an answer meanwhile, and one of them may hold the mutex:\n" +
			strings.Join(holders, "\n\n")
	}
	if p := r.panic.Load(); p != nil {
		text += "\n\na program has panicked before: " + p.Text + ": a mutex that was held then stays locked"
	}
	return host.Misuse(text), reasons[busy]
}

// asks is a text in the stack of every goroutine that waits for the answer to a request.
const asks = "bubble.(*life).ask("

const (
	busy    = "it never waits"
	locked  = "a goroutine waits for a mutex, which another holds while it waits itself, or for ever"
	foreign = "a goroutine waits for a channel that was made outside the program, as wait.NeverStop"
	outside = "a goroutine waits for the real network, or another file"
	other   = "a goroutine waits for something of which the schedule knows nothing"
)

// reason explains the state of a goroutine that waits for something outside the bubble.
func reason(state string) string {
	state, _, _ = strings.Cut(state, ",")
	switch {
	case strings.HasPrefix(state, "run"):
		return busy
	case strings.HasPrefix(state, "sync."):
		return locked
	case strings.HasPrefix(state, "chan"), strings.HasPrefix(state, "select"):
		return foreign
	case state == "IO wait", state == "syscall":
		return outside
	}
	return other
}

// from returns the sort key of a stack: 0 if the goroutine is in the program's own code, 1 if it is in code of k8s.io.
// The innermost function decides. Functions are skipped if [goroutine.Within] is true for them.
func from(stack string) int {
	for _, f := range frame.FindAllStringSubmatch(stack, -1) {
		if f[1] == "" && !goroutine.Within(f[2]) {
			if strings.HasPrefix(f[2], "k8s.io/") {
				return 1
			}
			return 0
		}
	}
	return 1
}

// leaked returns the error for goroutines that continue after their program has ended.
func leaked(stacks []string) host.Misuse {
	const most = 3
	more := ""
	slices.SortStableFunc(stacks, func(a, b string) int { return cmp.Compare(from(a), from(b)) })
	if n := len(stacks) - most; n > 0 {
		stacks, more = stacks[:most], fmt.Sprintf("\n\nand %d more", n)
	}
	return host.Misuse("goroutines outlive their program: its context has ended, and they wait for ever:\n" +
		strings.Join(stacks, "\n\n") + more)
}

// givenUp holds the rooms whose programs never settled. If the value is true, a goroutine of the room still runs and
// uses the only processor. roomsMu guards the map.
var givenUp = map[*room]bool{}

// giveUp abandons a room, because nothing can end its goroutines. If the goroutines settle later, the room is closed.
func (r *room) giveUp(runs bool) {
	r.forget()
	roomsMu.Lock()
	givenUp[r] = runs
	roomsMu.Unlock()
	go func() {
		<-r.done
		close(r.do)
		<-r.left
		roomsMu.Lock()
		delete(givenUp, r)
		roomsMu.Unlock()
	}()
}

// refuse panics if the program with this name never settled in an earlier world, or if a goroutine of an abandoned room
// still runs. Otherwise each new world would wait for half a minute again.
func refuse(name string) {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	for r, runs := range givenUp {
		if runs || r.hosts[name] {
			panic(host.Misuse(fmt.Sprintf("%s is not hosted: a program of this Go process never settled in an "+
				"earlier world, which reported its goroutines", name)))
		}
	}
}

// numberHere returns the number of the calling goroutine. On one processor, later goroutines have higher numbers.
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

// whence returns the source line of the controller's code that the calling goroutine executes, or "".
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

// frame matches a function and its line in a stack. The first group is set for the function that created the
// goroutine.
var frame = regexp.MustCompile(`(?m)^(created by )?(\S[^\n]*)\n\t(\S+):(\d+)`)

// waiting describes what each goroutine of the bubble waits for, and where. Two runs of one schedule give equal texts.
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
