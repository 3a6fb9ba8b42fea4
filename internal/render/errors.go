package render

import (
	"encoding/json"
	"fmt"
	"maps"
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

// Printed contains the last output of a process.
type Printed struct {
	Process string   `json:"process"`
	Lines   []string `json:"lines"`
}

// The limits of a page's output: lines of all programs with errors, other lines of all programs, characters of a line.
const (
	logErrors = 5
	logOthers = 3
	logRunes  = 170
)

// log formats the output of the programs. Unless whole is set, it shows only the last errors and the last other lines.
func (p *Page) log(b *strings.Builder, width int, whole bool) {
	section := func(what, process string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(b, "\n    the last %s that %s printed\n", what, process)
		t := Table{Indent: "      ", Width: width}
		for _, line := range lines {
			t.Add(line)
		}
		b.WriteString(t.String())
	}
	for _, o := range p.Printed {
		if whole {
			var lines []string
			for _, line := range o.Lines {
				lines = append(lines, Plain(strings.ReplaceAll(line, "\t", "  ")))
			}
			section("lines", o.Process, lines)
			continue
		}
		errors, others := Digest(o.Lines)
		section("errors", o.Process, last(errors, logErrors/len(p.Printed)))
		section("other lines", o.Process, last(others, logOthers/len(p.Printed)))
	}
}

func last(lines []string, most int) []string { return lines[max(0, len(lines)-max(most, 1)):] }

// Digest divides the output of a program into errors and other lines, each sorted by last occurrence and with counts.
// It omits stack traces. From structured lines it keeps only the message and the error.
func Digest(lines []string) (errors, others []string) {
	type told struct {
		text  string
		wrong bool
		n     int
	}
	var all []told
	for i, line := range lines {
		if frame(lines, i) {
			continue
		}
		t := told{n: 1}
		if t.text, t.wrong = logged(line); t.text == "" {
			continue
		}
		t.text = strings.ReplaceAll(t.text, conflict, "")
		if err, again := strings.CutPrefix(t.text, "ERROR Reconciler error: "); again && len(all) > 0 &&
			all[len(all)-1].text != t.text && strings.HasSuffix(all[len(all)-1].text, ": "+err) {
			continue // controller-runtime logs the reconciler's error a second time
		}
		if at := slices.IndexFunc(all, func(o told) bool { return o.text == t.text }); at >= 0 {
			t.n += all[at].n
			all = slices.Delete(all, at, at+1)
		}
		all = append(all, t)
	}
	for _, t := range all {
		text := cut(t.text, logRunes)
		if t.wrong {
			text = cutMiddle(t.text, logRunes) // a wrapped error ends with its cause
		}
		text = Plain(text)
		if t.n > 1 {
			text = fmt.Sprintf("%s (%d times)", text, t.n)
		}
		if t.wrong {
			errors = append(errors, text)
		} else {
			others = append(others, text)
		}
	}
	return errors, others
}

// LastError returns the last error in the output of a program, and how often the output has it. Other messages may
// follow only if they also occur between two of its occurrences, as in the loop of a retry. Otherwise LastError returns
// "". It skips stack traces.
func LastError(lines []string) (message string, times int) {
	after, between := map[string]bool{}, map[string]bool{} // other messages after the last occurrence, and before it
	for i, line := range slices.Backward(lines) {
		text, wrong := "", false
		if !frame(lines, i) {
			text, wrong = logged(line)
		}
		switch {
		case text == "":
		case message == "" && !wrong:
			after[text] = true
		case message == "" || text == message:
			message, times = text, times+1
			maps.DeleteFunc(after, func(other string, _ bool) bool { return between[other] })
		default:
			between[text] = true
		}
	}
	if len(after) > 0 {
		return "", 0
	}
	return message, times
}

var (
	place    = regexp.MustCompile(`^\s+\S+\.(go|s):\d+`)
	function = regexp.MustCompile(`^(created by )?[\w./\-~%@]+\.[^ ]*[)\]\w]( in goroutine \d+)?$`)
	klog     = regexp.MustCompile(`^([IWEF])\d{4} [\d:.]+ +\d+ \S+\] (.*)$`)
	klogErr  = regexp.MustCompile(`\berr="((?:[^"\\]|\\.)*)"`)
	zapError = regexp.MustCompile(`"err(?:or)?": ?"((?:[^"\\]|\\.)*)"`)
	stamp    = regexp.MustCompile(`^\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+(Z|[+-][\d:]+)?\s+`)
	severe   = regexp.MustCompile(`(?i)^(error|fatal|panic|dpanic|critical)\b|\b(level|severity)="?(error|fatal|panic)|^fatal error:`)
	// refused matches the errors of the packages flag and pflag. The usage of a program follows, often in many lines.
	refused = regexp.MustCompile(`^(flag provided but not defined: |unknown (shorthand )?flag: |flag needs an argument: |` +
		`invalid (boolean )?value ".*" for (flag )?-|invalid argument ".*" for ".*" flag: )`)
)

// conflict is the end of the message of a 409 for an outdated resourceVersion.
const conflict = "; please apply your changes to the latest version and try again"

// frame reports whether line i is in a stack trace: "goroutine 1", a function, or the file and line below a function.
func frame(lines []string, i int) bool {
	if place.MatchString(lines[i]) || strings.HasPrefix(lines[i], "goroutine ") {
		return true
	}
	return i+1 < len(lines) && place.MatchString(lines[i+1]) && function.MatchString(lines[i])
}

// logged returns a line without its time, and whether it reports an error. For the formats of zap, logr, slog and klog
// it keeps only the message and the error.
func logged(line string) (text string, wrong bool) {
	if m := klog.FindStringSubmatch(line); m != nil {
		text, wrong = m[2], m[1] == "E" || m[1] == "F"
		if strings.HasPrefix(text, `"`) {
			if end := strings.Index(text[1:], `"`); end >= 0 {
				message := text[1 : 1+end]
				if err := klogErr.FindStringSubmatch(text); err != nil {
					message += ": " + strings.ReplaceAll(err[1], `\"`, `"`)
				}
				text = message
			}
		}
		return text, wrong
	}
	if strings.HasPrefix(line, "{") {
		fields := object(line)
		if fields == nil {
			fields = truncated(line)
		}
		if fields != nil {
			level := first(fields, "level", "severity", "lvl")
			text = first(fields, "msg", "message", "M")
			if err := first(fields, "error", "err"); err != "" {
				text += ": " + err
			}
			return strings.TrimSpace(strings.ToUpper(level) + " " + text), severe.MatchString(level)
		}
	}
	text = stamp.ReplaceAllString(strings.TrimSpace(line), "")
	parts := strings.Split(text, "\t")
	if n := len(parts) - 1; n > 0 && strings.HasPrefix(parts[n], "{") {
		err := ""
		if fields := object(parts[n]); fields != nil {
			err = first(fields, "error", "err")
		} else if m := zapError.FindStringSubmatch(parts[n]); m != nil { // the line was truncated
			err = strings.ReplaceAll(m[1], `\"`, `"`)
		}
		if parts = parts[:n]; err != "" {
			parts[n-1] += ": " + err
		}
	}
	text = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
	return text, severe.MatchString(text) || refused.MatchString(text)
}

// jsonText matches a field of a JSON object whose value is a string.
var jsonText = regexp.MustCompile(`"(\w+)":\s*("(?:[^"\\]|\\.)*")`)

// truncated returns the fields of a truncated JSON object that are strings, or nil if none of them is a message.
func truncated(line string) (fields map[string]any) {
	for _, m := range jsonText.FindAllStringSubmatch(line, -1) {
		text := ""
		if json.Unmarshal([]byte(m[2]), &text) != nil || fields[m[1]] != nil {
			continue
		}
		if fields == nil {
			fields = map[string]any{}
		}
		fields[m[1]] = text
	}
	if first(fields, "msg", "message", "M") == "" {
		return nil
	}
	return fields
}

func object(text string) (fields map[string]any) {
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &fields) != nil {
		return nil
	}
	return fields
}

func first(fields map[string]any, names ...string) string {
	for _, name := range names {
		if v, ok := fields[name]; ok {
			return fmt.Sprint(v)
		}
	}
	return ""
}
