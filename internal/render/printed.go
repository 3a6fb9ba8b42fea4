package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Printed contains the last output of a process.
type Printed struct {
	Process string   `json:"process"`
	Lines   []string `json:"lines"`
}

// The limits of a page's output: lines of all programs with errors, other lines of all programs, characters of a line.
const (
	logErrors = 5
	logOthers = 3
	logRunes  = 240
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

// LastError returns the last error in the output of a program, and how often the output has it. Errors that differ only
// in numbers, such as the number of an attempt, count as the same. Other messages may follow only if they also occur
// between two of its occurrences, as in the loop of a retry. Otherwise LastError returns "". It skips stack traces.
func LastError(lines []string) (message string, times int) {
	after, between := map[string]bool{}, map[string]bool{} // other messages after the last occurrence, and before it
	same := ""                                             // the last error without its numbers
	for i, line := range slices.Backward(lines) {
		text, wrong := "", false
		if !frame(lines, i) {
			text, wrong = logged(line)
		}
		whole := text
		text = number.ReplaceAllLiteralString(text, "0")
		switch {
		case text == "":
		case message == "" && !wrong:
			after[text] = true
		case message == "":
			message, same, times = whole, text, 1
		case text == same:
			times++
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
	stamp    = regexp.MustCompile(`^(\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+(Z|[+-][\d:]+)?|\d+\.\d{3,}(e\+\d+)?)\s+`)
	number   = regexp.MustCompile(`\d+`)
	severe   = regexp.MustCompile(`(?i)^(error|fatal|panic|dpanic|critical)\b|\b(level|severity)="?(error|fatal|panic)|^fatal error:`)
	// runner matches the lines that go test prints in a process that hosts a function.
	runner = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) `)
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
	if runner.MatchString(line) {
		return "", false
	}
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
