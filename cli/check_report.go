package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

type checkReport struct {
	Notes    []string       `json:"notes"` // which settings were found in which files, and other remarks
	Samples  []*sampleTried `json:"samples"`
	Seconds  float64        `json:"seconds"` // without the time for the build
	ExitCode int            `json:"exitCode"`
}

type lawResult struct {
	Law       string `json:"law"`
	Clause    string `json:"clause"`
	State     string `json:"state"` // "held", "violated", ...: an element of states
	Why       string `json:"why,omitempty"`
	Exercised int    `json:"exercised"` // how often the law was evaluated
}

// states contains the states of laws in the order of the output.
var states = []string{check.Violated, check.Accepted, check.Skipped, check.NotExercised, check.NotJudged, check.Held, check.NotIts}

func (c *checking) judge(s *sampleTried) error {
	verdicts := s.plan.Verdicts(s.tried)
	var b strings.Builder
	for _, st := range states {
		t := render.Table{Indent: "  ", Width: c.width}
		n := 0
		var laws byReason
		for i := range verdicts {
			v := &verdicts[i]
			if v.State != st {
				continue
			}
			n++
			result := lawResult{Law: v.Name, Clause: v.ID, State: st, Why: strings.TrimPrefix(v.Why, ", "), Exercised: v.Exercised}
			s.Laws = append(s.Laws, result)
			if short := !c.verbose && (v.State == check.NotJudged || v.State == check.NotIts); !short {
				t.Add(result.Clause, result.Law, result.text(v))
			} else {
				laws.add(result.Why, result.Clause+" "+result.Law)
			}
			c.line(c.lawLine(s, v, &result))
			if err := c.add(c.app, lawChecked(s, v, &result)); err != nil {
				return err
			}
		}
		if n > 0 {
			b.WriteString(c.section(st, t.String(), &laws))
		}
	}
	var skipped byReason
	for _, j := range s.Cases {
		if j.Skipped != "" {
			skipped.add(j.Skipped, j.Name)
		}
	}
	if len(skipped.reasons) > 0 {
		c.say("%s", c.section("skipped cases", "", &skipped))
	}
	s.sum(verdicts)
	c.say("\n%s, %s\n", s.Text, round(time.Since(s.began)))
	for _, text := range s.Short {
		c.say("%s\n", text)
	}
	c.say("%s", b.String())
	return nil
}

// byReason contains names of cases or laws in groups that have the same reason.
type byReason struct {
	reasons []string
	names   map[string][]string
}

func (g *byReason) add(why, name string) {
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if g.names[why] = append(g.names[why], name); len(g.names[why]) == 1 {
		g.reasons = append(g.reasons, why)
	}
}

func (g *byReason) text(width int) (text string) {
	for _, why := range g.reasons {
		t := render.Table{Indent: "  ", Width: width}
		t.Add(why + ": " + strings.Join(g.names[why], ", "))
		text += t.String()
	}
	return text
}

// section formats a list with its title. The groups follow the list. If the sample before has the same groups and the same
// list, they are not repeated.
func (c *checking) section(title, list string, groups *byReason) string {
	before := c.listed[title]
	list += groups.text(c.width)
	c.listed[title] = list
	if list == before && len(groups.reasons) > 0 {
		return "\n" + title + ": the same as with the sample before\n"
	}
	return "\n" + title + "\n" + list
}

func (s *sampleTried) sum(verdicts []check.Verdict) {
	s.Text = s.plan.Summary(s.tried, verdicts)
	var cut, left []string
	for _, j := range s.Cases {
		if j.Cut {
			cut = append(cut, j.Name)
		}
		if j.LeftOut {
			left = append(left, j.Name)
		}
	}
	for _, short := range []struct {
		what  string
		cases []string
	}{{fmt.Sprintf("explored in fewer than %s", plural(fewest, "schedule")), cut}, {"left out", left}} {
		if len(short.cases) > 0 {
			s.Short = append(s.Short, fmt.Sprintf("%s, so set a longer --time: %s", short.what, strings.Join(short.cases, ", ")))
		}
	}
}

func (l *lawResult) text(v *check.Verdict) string {
	switch v.State {
	case check.Held:
		text := fmt.Sprintf("evaluated %s in %s", times(v.Exercised), plural(v.Worlds, "case"))
		if l.Why != "" {
			text += ", " + l.Why
		}
		return text
	case check.NotExercised:
		return ""
	}
	return l.Why
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (c *checking) caseChecked(s *sampleTried, j *caseJSON) ci.File {
	one := ci.File{Name: s.label(j.Name), Took: j.took, Skipped: j.Skipped,
		Page: j.line() + "\n" + j.pages}
	for _, text := range j.Errors {
		title := "not explored"
		if j.ExitCode == scenarios.ExitNondetermine {
			title = "two runs differ"
		}
		one.Problems = append(one.Problems, ci.Problem{Error: true, Title: title, Text: text})
	}
	for _, f := range j.Failures {
		p := ci.Problem{Title: f.Law, Text: fmt.Sprintf("%s: %s\n%s\n%s", j.Name, f.Said(), f.Small, f.replay())}
		if f.Written != "" {
			p.File = c.place(f.Written)
		}
		one.Problems = append(one.Problems, p)
	}
	switch {
	case len(one.Problems) > 0:
	case j.ExitCode == scenarios.ExitNotSettled:
		one.Problems = []ci.Problem{{Title: "does not settle", Text: strings.TrimSpace(j.line())}}
	case j.LeftOut:
		one.Skipped = "left out: " + j.noTime()
	case len(j.Uncovered) > 0:
		one.Problems = []ci.Problem{{Title: "not covered", Text: strings.Join(j.Uncovered, "\n")}}
	}
	return one
}

func lawChecked(s *sampleTried, v *check.Verdict, told *lawResult) ci.File {
	one := ci.File{Name: s.label("laws/" + v.ID + "-" + v.Name)}
	if v.State != check.Held && v.State != check.Violated {
		one.Skipped = strings.TrimSuffix(told.State+": "+told.Why, ": ")
	}
	return one
}

// unprepared reports that a sample could not be explored. The check fails if the user named samples with --sample. It
// also fails if this is the last sample and none could be explored.
func (c *checking) unprepared(op *operator, sample *check.File, err error) error {
	last := sample == op.Samples[len(op.Samples)-1]
	text := err.Error()
	if !strings.HasPrefix(text, sample.Name) {
		text = sample.Name + ": " + text
	}
	one := ci.File{Name: sample.Name, Page: text + "\n", Skipped: text}
	l := checkLine{Name: sample.Name, Skipped: text}
	short := text
	if idle := (*check.Idle)(nil); errors.As(err, &idle) {
		short = sample.Name + didNothing
		if first := c.idle[idle.Why()]; first != "" {
			text = short + ", as with " + first
		} else {
			text += c.idles(op, sample, idle)
		}
	} else {
		if check.RefusedByWebhook(err) {
			text += "; --with FILE adds an object that it lacks, and --args enables a feature of the operator"
		}
		if len(c.Samples) == 0 {
			text += another
		}
	}
	none := !slices.ContainsFunc(c.report.Samples, func(s *sampleTried) bool { return s.plan != nil })
	if len(c.Samples) > 0 || last && none {
		c.code = worse(c.code, scenarios.ExitUsage)
		l.Failed, l.Skipped, one.Skipped = text, "", ""
		one.Problems = []ci.Problem{{Error: true, File: c.place(sample.Name), Title: "not checked", Text: text}}
	}
	fmt.Fprintln(c.err, text)
	c.line(l)
	c.report.Samples = append(c.report.Samples, &sampleTried{Sample: sample.Name, Text: text, short: short})
	return c.add(c.app, one)
}

// another is the suggestion at the end of an error about a sample.
const another = "; --sample FILE names another sample"

// idles returns a suggestion for a sample for which the operator did nothing, such as the flags to add. With -v it
// prints the last lines of the operator's output.
func (c *checking) idles(op *operator, sample *check.File, idle *check.Idle) string {
	if c.idle == nil {
		c.idle = map[string]string{}
	}
	c.idle[idle.Why()] = sample.Name
	text := "; --args, --env and --with FILE give it what it lacks"
	if c.Test != "" {
		text = "; the fields With and CRDs of the Subject give it objects that it lacks"
	} else if _, file := op.missing(idle, sample); file != "" {
		text = "; --with " + file + " gives it this object"
	}
	switch {
	case len(idle.Printed) > 0 && c.verbose:
		c.say("%s: the last lines that it printed\n", sample.Name)
		for _, line := range idle.Printed {
			c.say("  %s\n", render.Plain(strings.ReplaceAll(line, "\t", "  ")))
		}
	case len(idle.Printed) > 0 && c.Test == "":
		text += "; -v shows what it logged"
	}
	if len(c.Samples) == 0 {
		text += another
	}
	return text
}

// The list of samples at the end has these texts after the name of a sample.
const (
	didNothing = ": it did nothing for its owner"
	leftOut    = ": left out, because the time was over"
)

func (c *checking) finish() error {
	elapsed := time.Since(c.began)
	c.report.Seconds, c.report.ExitCode = elapsed.Seconds(), c.code
	if err := c.write("threelaws check"); err != nil {
		return err
	}
	if c.lines {
		return nil
	}
	if c.json {
		return c.encode(&c.report)
	}
	if len(c.report.Samples) > 1 {
		named := map[string][]string{} // for the ends of lines that many samples have: the samples
		for _, s := range c.report.Samples {
			text := cmp.Or(s.short, s.Text)
			if s.plan != nil {
				text = s.Sample + ": " + text
			}
			switch text {
			case s.Sample + didNothing, s.Sample + leftOut:
				end := strings.TrimPrefix(text, s.Sample)
				named[end] = append(named[end], s.Sample)
			default:
				c.printf("\n%s", text)
			}
		}
		for _, end := range []string{didNothing, leftOut} {
			switch all := named[end]; {
			case len(all) == 1:
				c.printf("\n%s%s", all[0], end)
			case len(all) > 1:
				c.printf("\n%d samples%s: %s", len(all), end, strings.Join(all, ", "))
			}
		}
		c.printf("\n%s, %s\n", plural(len(c.report.Samples), "sample"), round(elapsed))
	}
	return nil
}

// checkProtocol is the version of the format of -o json-lines. Module agent reads this format.
const checkProtocol = 1

// checkLine is a line of -o json-lines. The first line contains only the version.
type checkLine struct {
	Protocol int    `json:"protocol,omitempty"`
	Note     string `json:"note,omitempty"`    // a remark, such as which setting was found in which file
	Name     string `json:"name,omitempty"`    // the name of a case, of a law, or of a sample that was not explored
	Failed   string `json:"failed,omitempty"`  // why it failed: the reports of its violations, or another error
	Skipped  string `json:"skipped,omitempty"` // why there is no result
	Told     string `json:"told,omitempty"`    // what was explored in a case, or how often a law was evaluated
}

func (c *checking) line(l checkLine) {
	if c.lines {
		text, _ := json.Marshal(l) // texts and numbers can always be encoded
		c.printf("%s\n", text)
	}
}

func (c *checking) caseLine(s *sampleTried, j *caseJSON) checkLine {
	l := checkLine{Name: c.among(s, j.Name), Skipped: j.Skipped, Told: strings.TrimSpace(j.line())}
	switch {
	case len(j.Failures) > 0:
		l.Failed = j.pages
	case len(j.Errors) > 0:
		l.Failed = strings.Join(j.Errors, "\n")
	case j.ExitCode == scenarios.ExitNotSettled:
		l.Failed = l.Told
	case j.LeftOut:
		l.Skipped, l.Told = "left out: "+j.noTime(), ""
	case len(j.Uncovered) > 0:
		l.Skipped = "not covered: " + strings.Join(j.Uncovered, "; ")
	}
	return l
}

func (c *checking) lawLine(s *sampleTried, v *check.Verdict, told *lawResult) checkLine {
	l := checkLine{Name: c.among(s, fmt.Sprintf("%s-%s", v.ID, v.Name)), Told: told.text(v)}
	switch v.State {
	case check.Held:
	case check.Violated:
		l.Failed = "violated " + l.Told
	default:
		l.Skipped, l.Told = strings.TrimSuffix(told.State+": "+told.Why, ": "), ""
	}
	return l
}

// among returns the name of a case or a law. If there are several samples, the sample's kind is put in front.
func (c *checking) among(s *sampleTried, name string) string {
	if c.samples > 1 {
		return s.label(name)
	}
	return name
}
