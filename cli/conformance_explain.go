package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/conform"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// explanation is what conformance prints with --json and --explain.
type explanation struct {
	Clause    string       `json:"clause"`
	Kind      string       `json:"kind"`
	Sentence  string       `json:"sentence"`
	Source    string       `json:"source"`
	Law       string       `json:"law,omitempty"`
	Asks      string       `json:"asks,omitempty"`    // the law's own sentence
	Unasked   string       `json:"unasked,omitempty"` // the part of it that no check asks about
	Scenarios []string     `json:"scenarios,omitempty"`
	Mutants   []string     `json:"mutants,omitempty"` // that the law kills
	Tests     []string     `json:"tests,omitempty"`
	Cases     []string     `json:"cases,omitempty"`
	Lacking   string       `json:"lacking,omitempty"` // what of it nothing covers, and why
	Page      *render.Page `json:"page,omitempty"`    // in which the first of the mutants breaks it
	Shown     string       `json:"shown,omitempty"`   // the scenario of it that is shown, where no mutant breaks it
	Timeline  string       `json:"timeline,omitempty"`
	Tree      string       `json:"tree,omitempty"` // of owners and dependents, in the end

	command string // what the program is called
}

// explainClause says what a clause rests on.
func explainClause(a *app, id string, cover []*conform.Cover) error {
	var ids []string
	for _, c := range cover {
		ids = append(ids, c.ID)
	}
	at := slices.IndexFunc(cover, func(c *conform.Cover) bool { return strings.EqualFold(c.ID, id) })
	if at < 0 {
		return usage("--explain: unknown clause %s%s", id, suggest(id, ids))
	}
	c := cover[at]
	e := explanation{Clause: c.ID, Kind: c.Kind.String(), Sentence: c.Sentence, Source: c.Source,
		Scenarios: c.Pins(), Tests: c.Tests, Cases: c.Cases, Lacking: c.Lacking, command: a.name}
	if c.Law != nil {
		e.Law, e.Asks, e.Unasked = c.Law.Name, c.Law.Sentence, c.Law.Unasked
	}
	for _, k := range c.Kills {
		e.Mutants = append(e.Mutants, k.Mutant)
	}
	var err error
	switch {
	case len(c.Kills) > 0:
		err = e.picture(a, c.Kills[0])
	case len(c.Scenarios) > 0:
		err = e.play(a, c.Scenarios)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.encode(e)
	}
	a.print(e.text(a.prose()))
	return nil
}

// picture runs the scenario in which a mutant is killed.
func (e *explanation) picture(a *app, k conform.Kill) error {
	f, err := a.load(k.File)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return s.Line == k.Line })
	o, err := f.Steps[at].ExploreOptions()
	if err != nil {
		return err
	}
	dead, err := scenarios.Kill(f, at, a.registry, k.Mutant, o)
	if err != nil {
		return err
	}
	e.Page = dead.Page
	return nil
}

// readable is how many lines of a timeline somebody reads at once.
const readable = 30

// play runs scenarios of a clause that no mutant is known to break, and keeps the first
// that can be read at once, or else the shortest.
func (e *explanation) play(a *app, names []string) error {
	shortest := 0
	for _, name := range names {
		_, err := a.watch(name, scenarios.Options{Inspect: func(r *scenarios.Run) {
			s := &shown{h: &r.World().History, breaches: r.Breaches()}
			lines := render.Timeline(s.h, render.Options{Breaches: s.breaches})
			if n := len(lines); shortest > 0 && n >= shortest {
				return
			}
			render.Explain(s.h, lines)
			shortest, e.Shown, e.Timeline = len(lines), name, s.timeline(lines, a.prose())
			e.Tree = render.Tree(render.Objects(s.h, s.h.Len()))
		}})
		if err != nil || shortest > 0 && shortest <= readable {
			return err
		}
	}
	return nil
}

func (e *explanation) text(width int) string {
	t := render.Table{Indent: "  ", Width: width}
	for _, row := range [][2]string{
		{"says", e.Sentence}, {"source", e.Source}, {"law", e.Law}, {"asks", e.Asks}, {"not asked", e.Unasked},
		{"kills", strings.Join(e.Mutants, " ")}, {"scenarios", strings.Join(e.Scenarios, " ")},
		{"tests", strings.Join(e.Tests, " ")}, {"recorded", strings.Join(begun(e.Cases), " ")},
		{"lacking", e.Lacking},
	} {
		if row[1] != "" {
			t.Add(row[0], row[1])
		}
	}
	text := fmt.Sprintf("%s  (%s)\n%s", e.Clause, e.Kind, t.String())
	if e.Page != nil {
		text += "\nwith " + e.Mutants[0] + ":\n\n" + e.Page.Wide(width)
	}
	if e.Shown != "" {
		text += "\nin " + e.Shown + ":\n\n" + e.Timeline + "\nowners in the end\n" + e.Tree +
			"\ngraph: " + e.command + " show --as dot " + argument(e.Shown) + "\n"
	}
	return text
}

// begun shows that recorded cases are named by how they begin.
func begun(cases []string) []string {
	var list []string
	for _, c := range cases {
		list = append(list, c+"*")
	}
	return list
}
