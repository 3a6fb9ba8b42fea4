package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Error is what syncs of one key ended with and were not cured of.
type Error struct {
	Process string   `json:"process"`
	Key     string   `json:"key"` // the object that was synced, "rs/web", or the key of a process without a kind
	Text    string   `json:"text"`
	Count   int      `json:"count"`
	Panic   bool     `json:"panic,omitempty"`
	Stack   []string `json:"stack,omitempty"` // of a panic: the controller's own functions, innermost first
}

// ErrorsBefore collects the errors that syncs ended with before a record, those
// left out whose key was synced without an error since. They stand in the order
// in which each was last seen.
func ErrorsBefore(h *sim.History, to int) []Error {
	var open []Error
	names := map[string]sim.Ref{} // by unique id: the collector's keys have no other name
	for i := range h.Records {
		r := &h.Records[i]
		if r.Index >= to {
			break
		}
		if r.Op == sim.Commit {
			names[r.Object.UID] = r.Object
		}
		if r.Op != sim.SyncEnd {
			continue
		}
		e := errorOf(r, names)
		if e.Text == "" {
			open = slices.DeleteFunc(open, func(o Error) bool { return o.Process == e.Process && o.Key == e.Key })
			continue
		}
		if at := slices.IndexFunc(open, e.same); at >= 0 {
			e.Count += open[at].Count
			open = slices.Delete(open, at, at+1)
		}
		open = append(open, e)
	}
	return open
}

func errorOf(r *sim.Record, names map[string]sim.Ref) Error {
	text, stack, _ := strings.Cut(r.Message, "\n")
	e := Error{Process: r.Process, Key: r.For.Key(), Text: WithoutUIDs(text), Count: 1, Panic: r.Reason == "panic"}
	if !r.For.IsZero() {
		e.Key = r.For.String()
	}
	e.Key = uidShape.ReplaceAllStringFunc(e.Key, func(uid string) string {
		if ref, ok := names[uid]; ok {
			return ref.String()
		}
		return "(uid)"
	})
	if e.Panic {
		e.Stack = ownFrames(stack)
	} else if stack != "" {
		e.Text += " ..."
	}
	return e
}

func (e *Error) same(o Error) bool {
	return o.Process == e.Process && o.Key == e.Key && o.Text == e.Text
}

// mostFrames is how many functions of a panic's stack are shown.
const mostFrames = 4

// ownFrames takes the controller's own functions from a goroutine's stack as
// runtime/debug prints it: those between the panic and the host that called the
// sync. Addresses and folders are left out, so that the text is the same in
// every run.
func ownFrames(stack string) []string {
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		stack = stack[i+1:] // what is above it runs because of the panic
	}
	lines := strings.Split(stack, "\n")
	var frames []string
	for i := 0; i+1 < len(lines); i++ {
		name, place := lines[i], lines[i+1]
		if !strings.HasPrefix(place, "\t") {
			continue
		}
		i++
		name = name[strings.LastIndex(name, "/")+1:]
		if strings.HasPrefix(name, "host.(*worker).") {
			break
		}
		if !strings.HasPrefix(name, "panic(") && !strings.HasPrefix(name, "runtime.") {
			frames = append(frames, functionName(name)+" "+fileLine(place))
		}
	}
	return frames[:min(len(frames), mostFrames)]
}

// functionName is a function without the arguments of the call.
func functionName(call string) string {
	if i := strings.LastIndex(call, "("); i > 0 {
		return call[:i]
	}
	return call
}

// fileLine is "toy.go:33" of a stack's second line.
func fileLine(place string) string {
	place = place[strings.LastIndex(place, "/")+1:]
	place, _, _ = strings.Cut(strings.TrimSpace(place), " ")
	return place
}

// mostErrors is how many errors a page shows: those seen last.
const mostErrors = 5

// errors renders the errors of a page, one a line, with the panics' stacks.
func (p *Page) errors(b *strings.Builder, width int, whole bool) {
	if len(p.Errors) == 0 {
		return
	}
	b.WriteString("\n    syncs ended with\n")
	shown := p.Errors
	if more := len(shown) - mostErrors; more > 0 && !whole {
		shown = shown[more:]
		b.WriteString("      ... " + strconv.Itoa(more) + " more\n")
	}
	beside := Table{Indent: "      ", Width: width}
	for _, e := range shown {
		beside.Add(e.Process, e.Key, "")
	}
	beneath := !whole && beside.left() < leastChange
	t := Table{Indent: "      ", Width: width}
	for _, e := range shown {
		text := e.Text
		if !whole {
			text = cut(text, cellRunes)
		}
		if e.Count > 1 {
			text = "x" + strconv.Itoa(e.Count) + " " + text
		}
		if beneath {
			t.Add(e.Process, e.Key)
			t.Note("  " + text)
		} else {
			t.Add(e.Process, e.Key, text)
		}
		for _, f := range e.Stack {
			t.Add("", "", "  in "+f)
		}
	}
	b.WriteString(t.String())
}
