package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Error is the last error of a key, if no later reconcile of the key succeeded.
type Error struct {
	Process string   `json:"process"`
	Key     string   `json:"key"` // the reconciled object, "rs/web"; or the queue's key, if no kind is reconciled
	Text    string   `json:"text"`
	Count   int      `json:"count"`
	Panic   bool     `json:"panic,omitempty"`
	Stack   []string `json:"stack,omitempty"` // for a panic: the controller's functions, innermost first
}

// ErrorsBefore returns the errors of reconciles before a record, for keys that did not succeed later. They are in order
// of their last occurrence.
func ErrorsBefore(h *sim.History, to int) []Error {
	var open []Error
	names := map[string]sim.Ref{} // UID -> object; the keys of the garbage collector contain only UIDs
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

const mostFrames = 4

// ownFrames returns the controller's functions in a stack trace of runtime/debug. They are between the panic and
// package host, which called the reconciler. ownFrames removes addresses and directories, which differ between runs.
func ownFrames(stack string) []string {
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		stack = stack[i+1:] // the frames before it handle the panic
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

func functionName(call string) string {
	if i := strings.LastIndex(call, "("); i > 0 {
		return call[:i]
	}
	return call
}

// fileLine returns the file and line, "toy.go:33", from the second line of a frame.
func fileLine(place string) string {
	place = place[strings.LastIndex(place, "/")+1:]
	place, _, _ = strings.Cut(strings.TrimSpace(place), " ")
	return place
}

const mostErrors = 5

// errors formats the errors of a page: one line for each, and the stacks of panics.
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

var (
	uidShape     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	invalidHead  = regexp.MustCompile(`^[A-Za-z.]+ "[^"]*" is invalid: `)
	invalidValue = regexp.MustCompile(`Invalid value: (\[.*\]|\{.*\}|".*"|[^:]*): `)
)

// WithoutUIDs replaces UIDs by "(uid)".
func WithoutUIDs(text string) string { return uidShape.ReplaceAllString(text, "(uid)") }

// RefusalOf returns why a request was refused: the status, and the part of the message that adds information.
func RefusalOf(r *sim.Record) string {
	text := invalidHead.ReplaceAllString(r.Message, "")
	text = invalidValue.ReplaceAllString(text, "")
	text = WithoutUIDs(text)
	if i := strings.Index(text, "Only one reference can have Controller set to true"); i >= 0 {
		text = "only one reference can have controller=true"
	}
	head := strings.TrimSpace(fmt.Sprintf("%d %s", r.Code, r.Reason))
	if text == "" || r.Code == 404 {
		return head
	}
	return head + ": " + text
}
