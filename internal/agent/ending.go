package agent

import (
	"bytes"
	"errors"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/sim/host"
)

// ended returns why the process ended. The error is a [host.Panic] for a panic or another fatal error of the runtime.
func (p *process) ended() error {
	crash := p.crash.String()
	for _, mark := range []string{"panic: ", "fatal error: ", "runtime: out of memory"} {
		if i := strings.Index(crash, mark); i >= 0 && (i == 0 || crash[i-1] == '\n') {
			return &host.Panic{Text: raised(crash[i:])}
		}
	}
	if i := strings.Index(crash, "threelaws: "); i >= 0 {
		line, _, _ := strings.Cut(crash[i+len("threelaws: "):], "\n")
		return errors.New(line)
	}
	text := p.cmd.ProcessState.String()
	if p.all != nil { // what the program prints before main begins is not reported as output
		p.all.Write(bytes.ReplaceAll([]byte(crash), []byte(p.root), nil))
	}
	printed := withoutUsage(messages(p.printed.last(lookBack)))
	if last := append(printed[max(0, len(printed)-3):], p.crash.last(1)...); len(last) > 0 {
		text += "; the last lines that it printed:\n\t" + strings.Join(last, "\n\t")
	}
	return errors.New(text)
}

// lookBack is the number of last output lines that are read to describe how a process ended. zap prints long stacks.
const lookBack = 100

// messages returns the lines without stack frames. A frame is two lines: a function, and an indented file and line.
func messages(lines []string) (list []string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "\t") {
			list = append(list, line)
		} else if len(list) > 0 {
			list = list[:len(list)-1]
		}
	}
	return list
}

// withoutUsage leaves out the flags below the heading "Usage": the reason of the exit stands before or after them.
func withoutUsage(lines []string) []string {
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.ToLower(l), "usage") })
	return append(lines[:i+1], slices.DeleteFunc(lines[i+1:], func(l string) bool {
		return i >= 0 && (l == "" || l[0] == ' ' || l[0] == '-' || strings.HasSuffix(l, ":"))
	})...)
}

// looped returns the error of a process that stopped answering. The error says "endless loop" or "system call", and the
// source line. The process has received SIGQUIT, so its output contains the stacks of its goroutines.
func (p *process) looped() error {
	select {
	case <-p.waited:
	case <-time.After(dying):
	}
	p.kill()
	all := goroutines(p.crash.String())
	text := "endless loop: a goroutine never waits"
	i := slices.IndexFunc(all, func(g goroutine) bool { return strings.HasPrefix(g.state, "run") && !g.woken })
	if i < 0 {
		if i = slices.IndexFunc(all, func(g goroutine) bool { return g.state == "syscall" }); i >= 0 {
			text = "a system call that does not return"
		}
	}
	if i >= 0 {
		text += ", at " + all[i].at
	}
	return &host.Panic{Text: text, Hangs: true}
}

// raised returns the value of a panic and the line of the program that raised it.
func raised(crash string) string {
	value, stack, _ := strings.Cut(crash, "\n")
	value = strings.TrimPrefix(strings.TrimPrefix(value, "panic: "), "fatal error: ")
	value, _, _ = strings.Cut(value, " [recovered")
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		stack = stack[i+1:]
	}
	if at := place(stack); at != "" {
		return value + ", at " + at
	}
	return value
}

// observed is the message of a recovered panic in every version of apimachinery and controller-runtime.
const observed = "Observed a panic"

// value finds the value x of a recovered panic in a log line: panic="x", "panic": "x", or Observed a panic: "x".
var value = regexp.MustCompile(`(?:panic="|"panic": ?"|Observed a panic: "?)((?:[^"\\\n]|\\.)*)`)

// recovered returns the value of a recovered and logged panic, with the line of the program that raised it.
func recovered(logged string) string {
	text := "a panic that its library recovers"
	if m := value.FindStringSubmatch(logged); m != nil {
		text = m[1]
	}
	stack := strings.NewReplacer(`\n`, "\n", `\t`, "\t", "\n\t\t", "\n\t").Replace(logged)
	if i := strings.LastIndex(stack, "panic("); i >= 0 {
		if at := place(stack[i:]); at != "" {
			return text + ", at " + at
		}
	}
	return text
}

// place returns the first source line of a stack that is not in a library. If all lines are in libraries, it returns
// the first line.
func place(stack string) string {
	first := ""
	for f := range frames(stack) {
		if first == "" {
			first = f.at
		}
		if !f.dependency && !f.standard {
			return f.at
		}
	}
	return first
}

type frame struct {
	function   string // "main.(*keeper).Reconcile"
	at         string // "manager/main.go:57"
	dependency bool   // the function belongs to a module other than the program's
	standard   bool   // the function belongs to the standard library
	creates    bool   // the function started the goroutine
}

// frames yields the calls of the first goroutine of a stack, except calls in the runtime and in the agent.
func frames(stack string) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		function, any := "", false
		for line := range strings.Lines(stack) {
			line, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t")
			if !is {
				if line == "" && any {
					return // the stack of another goroutine begins
				}
				function = line
				continue
			}
			line, _, _ = strings.Cut(line, " ")
			if strings.Contains(line, "/threelaws/agent/") || strings.Contains(line, "/src/runtime/") {
				continue
			}
			any = true
			dirs := strings.Split(line, "/")
			f := frame{at: strings.Join(dirs[max(0, len(dirs)-2):], "/"), standard: strings.Contains(line, "/src/"),
				dependency: strings.Contains(line, "/pkg/mod/") || strings.Contains(line, "/vendor/")}
			function, f.creates = strings.CutPrefix(function, "created by ")
			if i := strings.LastIndexByte(function, '('); i > 0 && !f.creates {
				function = function[:i] // without the arguments
			}
			f.function = function[strings.LastIndexByte(function, '/')+1:]
			if !yield(f) {
				return
			}
		}
	}
}

// goroutine describes one goroutine of a dump. Only goroutines in a synctest bubble are described. A goroutine that runs on
// another thread appears twice in a dump, first without its stack.
type goroutine struct {
	number   string
	state    string // "sync.Mutex.Lock"
	function string // "main.(*keeper).Reconcile"
	at       string // "manager/main.go:57"
	own      bool   // the program's own code began the wait, not a library
	main     bool   // the goroutine runs main.main
	handles  bool   // the goroutine runs a reconcile of controller-runtime
	woken    bool   // the goroutine has waited and has not run since: another goroutine keeps the processor
}

func goroutines(dump string) (all []goroutine) {
	for text := range strings.SplitSeq(dump, "\n\n") {
		head, stack, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(head, "goroutine ") || !strings.Contains(head, "synctest bubble") ||
			strings.Contains(stack, "threelaws/agent.(*agent).world") || strings.Contains(stack, "stack unavailable") {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, ",")
		state, _, _ = strings.Cut(state, "]")
		g := goroutine{number: number, state: strings.TrimSuffix(state, " (durable)"), at: place(stack),
			main: strings.Contains(stack, "\nmain.main("), woken: strings.HasPrefix(stack, "runtime.gopark("),
			handles: strings.Contains(stack, ").reconcileHandler(")}
		g.locate(stack)
		all = append(all, g)
	}
	return all
}

// locate sets the position at which the goroutine waits: the first call in the program's code. If there is none, it is
// the first call outside the standard library.
func (g *goroutine) locate(stack string) {
	var found frame
	outer := false // a caller outside of package sync has been seen
	for f := range frames(stack) {
		if f.creates {
			break
		}
		if !outer && !strings.HasPrefix(f.function, "sync.") {
			outer, g.own = true, !f.standard && !f.dependency
		}
		if !f.standard && (found.at == "" || found.dependency && !f.dependency) {
			found = f
		}
	}
	if found.at != "" {
		g.function, g.at = found.function, found.at
	}
}

// deadlock describes goroutines that wait for each other's mutexes. circle lists their numbers. If circle is empty,
// there is no deadlock, and the result is "".
func deadlock(circle []string, all []goroutine) string {
	if len(circle) == 0 {
		return ""
	}
	var at []string
	for _, number := range circle {
		if i := slices.IndexFunc(all, func(g goroutine) bool { return g.number == number }); i >= 0 {
			at = append(at, all[i].at)
		}
	}
	if len(circle) == 1 {
		return "deadlock: a goroutine waits for a mutex that it holds itself, at " + strings.Join(at, "")
	}
	return "deadlock: goroutines wait for mutexes that the next of them holds, at " + strings.Join(at, " and ")
}

func numbers(m *wire.Message) (all []string) {
	for n := m.TakeNum(); n > 0; n-- {
		all = append(all, strconv.FormatInt(m.TakeNum(), 10))
	}
	return all
}

// quit makes a Go process print its goroutines and end.
func quit(p *os.Process) { _ = p.Signal(syscall.SIGQUIT) }

// Waits describes goroutines of the program that wait although the world has settled, such as "main.sync waits for an
// RWMutex, at manager/main.go:57". It lists a wait if neither an object nor a timer can end it: a wait for I/O, for a
// mutex, or for a channel or WaitGroup made before main began. It also lists a wait of the program's own code for a
// WaitGroup or a Cond, except in main itself, and each wait inside a reconcile. The list is sorted. A wait may be harmless, so it is not a violation.
func (b *Binary) Waits() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.waits))
}

// mostWaits is the maximal number of waits that a Binary records.
const mostWaits = 20

func (b *Binary) wait(waits []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range waits {
		if len(b.waits) >= mostWaits {
			return
		}
		if b.waits == nil {
			b.waits = map[string]bool{}
		}
		b.waits[w] = true
	}
}

// awaited maps the state of a waiting goroutine to a description, such as "a mutex".
var awaited = map[string]string{
	"IO wait":             "I/O",
	"sync.Mutex.Lock":     "a mutex",
	"sync.RWMutex.Lock":   "an RWMutex",
	"sync.RWMutex.RLock":  "an RWMutex",
	"sync.WaitGroup.Wait": "a WaitGroup",
	"sync.Cond.Wait":      "a Cond",
	"chan receive":        "a channel made before main began",
	"chan send":           "a channel made before main began",
}

// waits describes the waits of goroutines. Those in numbers wait for something outside the synctest bubble, such as
// I/O.
func waits(numbers []string, all []goroutine) (texts []string) {
	for _, g := range all {
		outside := slices.Contains(numbers, g.number)
		if g.handles {
			texts = appendOnce(texts, "a reconcile has not ended: "+g.function+" waits, at "+g.at)
			continue
		}
		inside := (g.state == "sync.WaitGroup.Wait" || g.state == "sync.Cond.Wait") && g.own && !g.main
		if !outside && !inside || awaited[g.state] == "" {
			continue
		}
		texts = appendOnce(texts, g.function+" waits for "+awaited[g.state]+", at "+g.at)
	}
	return texts
}

func appendOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
