package evidence

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/sim/law"
)

const clausesHead = `# The clauses

This page is for readers who want to know the source of each law, and what is checked. A *clause* is one requirement of
a source document that a program can be checked against. A *law* is the code that checks a clause in a run. Each row of
the first tables paraphrases one clause. The rows cover all of the ControllerRef proposal (2017), the job selector
proposal, "Writing Controllers" and the notes of kube-controller-manager. If a law checks a clause, the row begins with
the sentence of the law in ` + "`sim/law`" + `. Other text comes from ` + "`internal/clause`" + `. The last table, [Coverage](#coverage),
shows what tests each clause: a law, a scenario, a test, or a recorded case of the real server. *Lacking* describes a
part of a clause that no test covers. ` + "`threelaws laws`" + ` lists the laws that are checked in a run.

The kinds of clauses:

- **S**: safety, checked at every step of a run.
- **L**: liveness, checked when the world has settled, or by finding a cycle.
- **R**: routing, which queue keys a watch event may enqueue.
- **V**: validation, what the API server accepts.
- **D**: defaults and stored data.
- **X**: upgrade and downgrade between eras, which are versions of a controller.
- **U**: what a user sees.

A violation of a safety clause has one of two strengths. It is *informed* if the writing process had seen enough to know
that the write was a violation. It is *committed* if the write was right for the state that the process knew, but wrong
for the stored state. Usually, a precondition would have avoided such a lost race. An informed violation fails a run. A
committed violation fails a run only if the scenario or the caller sets ` + "`strict`" + `.

Each law needs evidence from the run: *commits* (writes and refusals), *reads*, *deliveries* (watch events that a
process received), *syncs*, *queues* (which keys an event enqueued), *settled world*, *table of kinds*, *insides*. *Syncs* says
when a sync (call of a reconcile function) began and ended, and for which object. *Insides* are the errors of syncs,
changes of objects in caches, and when caches are full. Without the evidence that it needs, a
law is not judged. A profile is a set of laws. The profiles are nested: **ownership** is for any controller, **writing**
adds the guidelines of Writing Controllers, and **upstream** adds conventions of kube-controller-manager's own
controllers.
`

// ClausesPage returns docs/evidence/clauses.md.
func ClausesPage(cover []*Cover, r *Examination) []byte {
	var b strings.Builder
	b.WriteString(clausesHead)
	rest := cover
	for _, s := range clause.Sections() {
		fmt.Fprintf(&b, "\n## %s\n| id | kind | clause | source |\n|---|---|---|---|\n", s.Title)
		for _, c := range rest[:len(s.Clauses)] {
			fmt.Fprintf(&b, "| %s | %c | %s | %s |\n", c.ID, c.Category, c.sentence(), c.Source)
		}
		rest = rest[len(s.Clauses):]
	}
	b.WriteString(hostingHead)
	for _, c := range cover {
		if l := c.Law; l != nil && l.New != nil {
			fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s |\n", c.ID, l.Name, l.Profile, ofProgram(l, true), ofProgram(l, false),
				yes(l.Outside))
		}
	}
	b.WriteString(coverageHead)
	for _, c := range cover {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", c.ID, c.check(), c.killed(), c.pinned(), c.besides(),
			r.holds(c.Clause))
	}
	return []byte(b.String())
}

const hostingHead = `
## Hosting
All laws are checked for a reconciler that runs step by step. A whole program shows only its requests and watch events.
If the program uses controller-runtime, it also announces its reconciles: when each begins and ends, for which object,
and what it reads from caches. So more laws can be checked. A program that uses ` + "`serve`" + ` shows only its writes.
*Yes* means that the law is checked. *Settled* means that it is checked only for actions after the world has settled.
*Lost race* means that a violation is always *committed*, because it is unknown what the program had read. *End* means
that the law is checked only when the program ends.

| law | profile | program that announces | other program | ` + "`serve`" + ` |
|---|---|---|---|---|
`

// ofProgram says how a law is checked for a whole program.
func ofProgram(l *law.Law, announces bool) string {
	switch {
	case l.FromSettled:
		return "settled"
	case l.Races:
		return "lost race"
	case l.Ends:
		return "end"
	}
	return yes(l.OfProgram(announces))
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// sentence returns the text of a clause: the sentence of its law or invariant, if any, and the clause's own sentence.
func (c *Cover) sentence() string {
	if c.Law != nil {
		return strings.TrimSpace(c.Law.Sentence + " " + c.Sentence)
	}
	return c.Sentence
}

const coverageHead = `
## Coverage
A mutant is a reference controller without one check. A law kills a mutant if it reports the mutant in a run. A
scenario covers a clause if a comment of the scenario names the clause, or if the clause's law kills a mutant in the
scenario. If there are many entries, a cell names only the first ones. The last column is the result of exploring the
scenarios with every reference controller. It names the controllers whose last era keeps the clause, and the older eras
that violate it.

| clause | checked by | mutants that it kills | scenarios that cover it | tests and recorded cases | held by |
|---|---|---|---|---|---|
`

// check describes the law of a clause: its name, the profile to which it belongs, and the evidence that it needs.
func (c *Cover) check() string {
	if c.Law == nil || c.Law.New == nil {
		return "no law"
	}
	return fmt.Sprintf("%s (%s; %s)", c.Law.Name, c.Law.Profile, c.Law.Needs)
}

// mostNamed is the maximal number of names that a table shows in one cell.
const mostNamed = 3

func some(names []string) string {
	if n := len(names); n > mostNamed {
		return strings.Join(names[:mostNamed], ", ") + fmt.Sprintf(" and %d more", n-mostNamed)
	}
	return strings.Join(names, ", ")
}

func (c *Cover) killed() string {
	var names []string
	for _, k := range c.Kills {
		names = append(names, "`"+k.Mutant+"`")
	}
	return some(names)
}

// Pins returns the scenario files that cover the clause: files whose comments name it, and files in which the clause's
// law finds a mutant.
func (c *Cover) Pins() []string {
	pins := slices.Clone(c.Scenarios)
	for _, k := range c.Kills {
		if !slices.Contains(pins, k.File) {
			pins = append(pins, k.File)
		}
	}
	return pins
}

func (c *Cover) pinned() string {
	var links []string
	for _, f := range c.Pins() {
		links = append(links, link(f))
	}
	return some(links)
}

func link(file string) string {
	return fmt.Sprintf("[%s](../../scenarios/testdata/%s)", strings.TrimSuffix(path.Base(file), ".txtar"), file)
}

func (c *Cover) besides() string {
	var list []string
	for _, t := range c.Tests {
		list = append(list, "`"+t+"`")
	}
	for _, r := range c.Cases {
		list = append(list, "`"+r+"*`")
	}
	if c.Lacking != "" {
		list = append(list, "lacking: "+c.Lacking)
	}
	return strings.Join(list, ", ")
}

// ErasPage returns docs/use/eras.md: the controllers in the order of [controllers.Builtin], and the controllers of
// kube-controller-manager that are not implemented.
func ErasPage() []byte {
	var b strings.Builder
	b.WriteString(`# Controllers and their eras

This page is for authors of scenario files. It lists the reference controllers and their *eras*. An era is the behavior
of a controller in one period of Kubernetes. A step such as ` + "`controllers replicaset@gated`" + ` selects the era ` + "`gated`" + `. A
name without an era selects the last era. You can also use the names that kube-controller-manager gives
to its controllers, or gave to them earlier.

| controller | names in kube-controller-manager | eras |
| --- | --- | --- |
`)
	manager := controllers.KubeControllerManager()
	var names []string
	eras := map[string][]string{}
	for _, c := range controllers.Builtin() {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if c.Era != "" {
			eras[c.Name] = append(eras[c.Name], "`"+c.Era+"`")
		}
	}
	for _, name := range names {
		var theirs []string
		if slices.Contains(manager.Runs, name) {
			for alias, to := range manager.Aliases {
				if to == name {
					theirs = append(theirs, "`"+alias+"`")
				}
			}
			slices.Sort(theirs)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.Join(theirs, ", "),
			strings.Join(eras[name], ", "))
	}
	b.WriteString(switches)
	b.WriteString("\nA scenario is refused if it names one of these controllers of kube-controller-manager, which are not implemented:\n\n")
	for _, name := range manager.Absent {
		if strings.HasSuffix(name, "-controller") && name != "resource-claim-controller" {
			fmt.Fprintf(&b, "- `%s`\n", name)
		}
	}
	return []byte(b.String())
}

// switches is the section about switches from one era to another.
//
//go:embed eras.md
var switches string

const trackHead = `# Track record

This page is for readers who ask whether exploration finds real bugs. Each row of the first table is a reported
ownership bug, with the scenario file that finds it again. The controller in the file lacks the fix of the bug. This
controller is an older version (era) of a reference controller, or a mutant: a reference controller from which one check
was removed. Exploration runs it under many schedules, which are orders of requests, watch events and faults, until a
law is violated. The current reference controller passes the same schedules. An *open* bug is not fixed upstream, and
the current reference controller has the bug too. Then the violation is a lost race (*committed*, see
[design.md](../inside/design.md#the-laws-simlaw)).

Schedules run one after another on one core. *In* names the mutant or era. *Schedules* is the number of schedules until
the bug is found, and *time* is the time until then. Both are medians over all seeds of the random search. *Steps* is
the number of steps in the minimized timeline.
`

// unfound is the table of bugs that no file finds, with the reasons.
//
//go:embed unfound.md
var unfound string

const trackTable = `
| bug | what happened | file | in | violated law | steps | schedules | time |
|---|---|---|---|---|---|---|---|
`

func (b *Bug) row() string {
	by := "an older era"
	switch {
	case b.Open:
		by = "every era: open"
	case b.By != "":
		by = "`" + b.By + "`"
	}
	return fmt.Sprintf("| [%s](%s) | %s | %s | %s | %s | %d | %d | %s |\n", b.ID, b.URL,
		strings.ReplaceAll(b.What, "|", "\\|"), link(b.File.Name), by, b.Law, b.Steps, b.Schedules,
		b.Took.Round(time.Millisecond))
}

// TrackPage returns docs/evidence/track-record.md: the measurements of each bug with this many seeds.
func TrackPage(bugs []*Bug, seeds int) []byte {
	var b strings.Builder
	b.WriteString(trackHead)
	var steps, tried []int
	var took []time.Duration
	ids := map[string]bool{}
	for _, bug := range bugs {
		steps, tried, took = append(steps, bug.Steps), append(tried, bug.Schedules), append(took, bug.Took)
		ids[bug.ID] = true
	}
	slices.Sort(steps)
	slices.Sort(tried)
	slices.Sort(took)
	n := len(bugs) / 2
	fmt.Fprintf(&b, "\nThere are %d bugs in %d files. Each bug was searched with %d seeds. The median is %s and %s to find "+
		"a bug, and %s to show it.\n", len(ids), len(bugs), seeds, plural(tried[n], "schedule"),
		took[n].Round(time.Millisecond), plural(steps[n], "step"))
	b.WriteString(trackTable)
	for _, bug := range bugs {
		b.WriteString(bug.row())
	}
	b.WriteString(unfound)
	return []byte(b.String())
}
