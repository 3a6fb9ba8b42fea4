package scenarios

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
)

// scheduleSection is the name of the section with a failure's schedule.
const scheduleSection = "schedule"

// A schedule with more than 1000 decisions is written without the default decisions at its end, because these show
// nothing.
const mostKeys = 1000

// counterexampleText builds the scenario file of a failure.
type counterexampleText struct {
	program *Script
	head    string   // the comment at the top of the file
	steps   []string // the script without "!"
	bang    []bool   // for each step: whether it has a "!" in the file
	golden  []bool   // for each step: whether its output is kept
	reads   []*section
	keys    []string // the decisions of the schedule
}

// counterexampleFile returns a scenario file that passes if it reproduces a failure. The file contains the script until
// the failing step, the schedule, and the timeline as golden text. last is the failing step. If it is nil, the settle
// after the script fails.
func (p *Script) counterexampleFile(f *Counterexample, small *explore.Shrunk, last *Step) ([]byte, error) {
	t := &counterexampleText{program: p, keys: small.Schedule.Keys()}
	if len(t.keys) > mostKeys {
		t.keys = small.Schedule.Decided().Keys()
	}
	t.head = fmt.Sprintf("# %s is violated: %s\n# found by explore in schedule %d (%s), %s\n\n",
		f.Law, strings.ReplaceAll(f.Text, "\n", " "), f.Index, f.Strategy, f.Small)
	t.script(last)
	for range t.steps {
		file, err := parse(p.home(), []byte(t.text()), p.File.verbs)
		if err != nil {
			return nil, fmt.Errorf("the written failure cannot be read: %w", err)
		}
		res := Interpret(file, Options{Registry: p.Registry, fill: true})
		if res.ExitCode == ExitPass {
			return file.Format(), nil
		}
		e := res.Errors[0]
		i := slices.IndexFunc(file.Steps, func(s *Step) bool { return s.Line == e.Line })
		if i < 0 || e.Code == ExitUsage {
			return nil, fmt.Errorf("the written failure does not run: %w", e)
		}
		t.bang[i] = !t.bang[i] // a step that fails gets a "!"; a step with "!" that does not fail loses it
	}
	return nil, fmt.Errorf("the written failure of %s does not pass", f.Law)
}

// script adds the steps "schedule" and "judge", and the steps of the script up to and including last. If last is nil,
// it adds all steps of the script, and a settle.
func (t *counterexampleText) script(last *Step) {
	p := t.program
	add := func(text string, bang, golden bool) {
		t.steps, t.bang, t.golden = append(t.steps, text), append(t.bang, bang), append(t.golden, golden)
	}
	strict := ""
	if p.Strict {
		strict = " --strict"
	}
	mutant := ""
	if p.mutant != "" {
		mutant = " mutant=" + p.mutant
	}
	add("schedule "+scheduleSection+faultsArg(p.Faults)+mutant+strict, false, false)
	if len(p.laws) > 0 {
		add("judge "+strings.Join(p.laws, " "), false, false)
	}
	for _, s := range p.program() {
		if left := t.left(s); s.verb.replayed() && s.verb != verbSchedule && left != "" {
			add(left, s.Expect, s.verb.settles && !s.Has("quiet"))
		}
		if s == last {
			break
		}
	}
	if last == nil {
		add("settle", false, true)
	}
}

// left returns a step without its "!" and without the sections that minimizing has emptied. If no section is left,
// left returns "".
func (t *counterexampleText) left(s *Step) string {
	if s.verb.installs {
		return t.installed(s)
	}
	if !s.verb.sends {
		return strings.TrimPrefix(s.String(), "! ")
	}
	own := *s
	own.Expect = false
	own.Args = slices.DeleteFunc(slices.Clone(s.Args), func(a Arg) bool {
		empty := true
		for _, sec := range t.program.File.under(a.Text) {
			if s.verb != verbDefine && sec.name != a.Text || len(sec.docs) == 0 {
				continue
			}
			t.reads, empty = append(t.reads, sec), false
		}
		return empty
	})
	if len(own.Args) == 0 {
		return ""
	}
	return own.String()
}

// home returns the name of the file to which the failure is written. Paths in this file are relative to its directory.
func (p *Script) home() string {
	if p.out == "" {
		return p.File.Name
	}
	return filepath.Join(p.out, filepath.Base(p.File.Name))
}

// installed returns an install step. Sections are kept as a whole. Files on disk are named by their paths if the
// directory for failures is known. Otherwise they become sections.
func (t *counterexampleText) installed(s *Step) string {
	own := *s
	own.Args = nil
	for _, a := range s.Args {
		for _, sec := range t.program.File.under(a.Text) {
			name := sec.name
			if path, err := filepath.Rel(t.program.out, sec.origin); t.program.out != "" && sec.origin != "" && err == nil {
				name = filepath.ToSlash(path)
			} else {
				t.reads = append(t.reads, sec)
			}
			own.Args = append(own.Args, Arg{Text: name, Value: name})
		}
	}
	return own.String()
}

// text formats the file, without golden text.
func (t *counterexampleText) text() string {
	var b strings.Builder
	b.WriteString(t.head)
	for i, s := range t.steps {
		if t.bang[i] {
			b.WriteString("! ")
		}
		b.WriteString(s + "\n")
		if t.golden[i] {
			b.WriteString("----\n\n")
		}
	}
	for _, s := range t.program.File.sections {
		if slices.Contains(t.reads, s) {
			writeSection(&b, s.name, s.body)
		}
	}
	writeSection(&b, scheduleSection, strings.Join(append([]string{scheduleVersion}, t.keys...), "\n"))
	return b.String()
}
