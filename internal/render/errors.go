package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Error is an error of a key's reconciles that no later success resolved.
type Error struct {
	Process string   `json:"process"`
	Key     string   `json:"key"` // the object that was synced, "rs/web", or the key of a process without a kind
	Text    string   `json:"text"`
	Count   int      `json:"count"`
	Panic   bool     `json:"panic,omitempty"`
	Stack   []string `json:"stack,omitempty"` // of a panic: the controller's own functions, innermost first
}

// ErrorsBefore collects the reconcile errors before a record, except those of keys that later succeeded. They are in
// order of their last occurrence.
func ErrorsBefore(h *sim.History, to int) []Error {
	var open []Error
	names := map[string]sim.Ref{} // by uid: the garbage collector's keys have no other name
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

// mostFrames limits the functions of a panic's stack that are shown.
const mostFrames = 4

// ownFrames extracts the controller's own functions from a goroutine's stack in the format of runtime/debug: those
// between the panic and the host that called the reconciler. It removes addresses and folders, so the text is the same
// in every run.
func ownFrames(stack string) []string {
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		stack = stack[i+1:] // the frames above it run because of the panic
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

// functionName returns a function without the arguments of the call.
func functionName(call string) string {
	if i := strings.LastIndex(call, "("); i > 0 {
		return call[:i]
	}
	return call
}

// fileLine returns "toy.go:33" from a stack's second line.
func fileLine(place string) string {
	place = place[strings.LastIndex(place, "/")+1:]
	place, _, _ = strings.Cut(strings.TrimSpace(place), " ")
	return place
}

// mostErrors limits the errors of a page to the last ones.
const mostErrors = 5

// errors formats the errors of a page, one per line, with the stacks of panics.
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
