package render

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Printed holds the last output of a process.
type Printed struct {
	Process string   `json:"process"`
	Lines   []string `json:"lines"`
}

// The lines of program output that a page shows. All programs share them.
const (
	logErrors = 5
	logOthers = 3
	logRunes  = 170
)

// log formats the programs' output, errors first.
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

// last returns the last lines, at least one.
func last(lines []string, most int) []string { return lines[max(0, len(lines)-max(most, 1)):] }

// Digest splits a program's lines into errors and others, each in order of its last occurrence, with its count. Stack
// traces are left out; structured lines keep only the message and the error.
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
			continue // controller-runtime logs again what the reconciler logged
		}
		if at := slices.IndexFunc(all, func(o told) bool { return o.text == t.text }); at >= 0 {
			t.n += all[at].n
			all = slices.Delete(all, at, at+1)
		}
		all = append(all, t)
	}
	for _, t := range all {
		text := Plain(cut(t.text, logRunes))
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

var (
	place    = regexp.MustCompile(`^\s+\S+\.(go|s):\d+`)
	function = regexp.MustCompile(`^(created by )?[\w./\-~%@]+\.[^ ]*[)\]\w]( in goroutine \d+)?$`)
	klog     = regexp.MustCompile(`^([IWEF])\d{4} [\d:.]+ +\d+ \S+\] (.*)$`)
	klogErr  = regexp.MustCompile(`\berr="((?:[^"\\]|\\.)*)"`)
	zapError = regexp.MustCompile(`"err(?:or)?": ?"((?:[^"\\]|\\.)*)"`)
	stamp    = regexp.MustCompile(`^\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+(Z|[+-][\d:]+)?\s+`)
	severe   = regexp.MustCompile(`(?i)^(error|fatal|panic|dpanic|critical)\b|\b(level|severity)="?(error|fatal|panic)|^fatal error:`)
)

// conflict is the end of the text of each 409.
const conflict = "; please apply your changes to the latest version and try again"

// frame reports whether a line belongs to a stack trace: a place in a file, or the function above one.
func frame(lines []string, i int) bool {
	if place.MatchString(lines[i]) || strings.HasPrefix(lines[i], "goroutine ") {
		return true
	}
	return i+1 < len(lines) && place.MatchString(lines[i+1]) && function.MatchString(lines[i])
}

// logged returns a line without its time, and whether it reports an error. Lines of zap, logr, slog and klog keep the
// message and the error.
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
		if fields := object(line); fields != nil {
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
		} else if m := zapError.FindStringSubmatch(parts[n]); m != nil { // the line was cut
			err = strings.ReplaceAll(m[1], `\"`, `"`)
		}
		if parts = parts[:n]; err != "" {
			parts[n-1] += ": " + err
		}
	}
	text = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
	return text, severe.MatchString(text)
}

// object reads a JSON object, or returns nil.
func object(text string) (fields map[string]any) {
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &fields) != nil {
		return nil
	}
	return fields
}

// first returns the first existing field.
func first(fields map[string]any, names ...string) string {
	for _, name := range names {
		if v, ok := fields[name]; ok {
			return fmt.Sprint(v)
		}
	}
	return ""
}
