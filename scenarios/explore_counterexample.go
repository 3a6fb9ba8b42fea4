package scenarios

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
)

// scheduleSection is the name of the section a failure's schedule is in.
const scheduleSection = "schedule"

// mostKeys is how many decisions of a schedule are written although the last of
// them are the default: of a run that goes on for very long they tell nothing.
const mostKeys = 1000

// counterexampleText is a failure on its way to be written as a scenario file.
type counterexampleText struct {
	program *Script
	head    string   // the comment on top
	steps   []string // the script without "!"
	bang    []bool   // by step: it has a "!"
	golden  []bool   // by step: what it prints is kept
	reads   []*section
	keys    []string // the schedule
}

// counterexampleFile writes a failure as a scenario file that replays it and passes:
// the script up to the step that failed, the schedule, and as golden text the
// timeline. last is nil for the settle behind the script.
func (p *Script) counterexampleFile(f *Counterexample, small *explore.Shrunk, last *Step) ([]byte, error) {
	t := &counterexampleText{program: p, keys: small.Schedule.Keys()}
	if len(t.keys) > mostKeys {
		t.keys = small.Schedule.Decided().Keys()
	}
	t.head = fmt.Sprintf("# %s is broken: %s\n# found by explore in schedule %d (%s), %s\n\n",
		f.Law, strings.ReplaceAll(f.Text, "\n", " "), f.Index, f.Strategy, f.Small)
	t.script(last)
	for range t.steps {
		file, err := parse(p.home(), []byte(t.text()), p.File.verbs)
		if err != nil {
			return nil, fmt.Errorf("a failure was written that cannot be read: %w", err)
		}
		res := Interpret(file, Options{Registry: p.Registry, fill: true})
		if res.ExitCode == ExitPass {
			return file.Format(), nil
		}
		e := res.Errors[0]
		i := slices.IndexFunc(file.Steps, func(s *Step) bool { return s.Line == e.Line })
		if i < 0 || e.Code == ExitUsage {
			return nil, fmt.Errorf("a failure was written that does not run: %w", e)
		}
		t.bang[i] = !t.bang[i] // what fails in this schedule is what the file expects
	}
	return nil, fmt.Errorf("a failure of %s was written that does not pass", f.Law)
}

// script takes over the steps up to the last one, with what they run under in
// front.
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

// left is a step without its "!" and without the sections of which nothing is
// left; "" when it read no others.
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

// home is the name of the failure's file, for the paths that it names.
func (p *Script) home() string {
	if p.out == "" {
		return p.File.Name
	}
	return filepath.Join(p.out, filepath.Base(p.File.Name))
}

// installed is a step that installs. Its sections are taken over as they are; of files on the disk it names those,
// where it is known from which directory.
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

// text renders the file with golden text left to be filled in.
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
			fmt.Fprintf(&b, "-- %s --\n%s\n", s.name, strings.TrimRight(s.body, "\n"))
		}
	}
	fmt.Fprintf(&b, "-- %s --\n%s\n", scheduleSection, scheduleVersion)
	for _, k := range t.keys {
		b.WriteString(k + "\n")
	}
	return b.String()
}
