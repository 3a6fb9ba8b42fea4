package conform

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const trackHead = `# Track record

Ownership bugs that happened to people, and the file in which each is found again: from a plain world, by
exploration, in the controller without the guard that mended it (a mutant, or an older generation), while the right
one survives the same schedules. What is still *open* upstream is shown as what it is, a race that the right
controller loses too: a breach of *committed* strength.

` + "`make track`" + ` measures how many schedules, drawn one after the other on one core, and how much time it takes
until the bug shows (medians over the seeds), and how many steps its timeline has when it has been made small.
`

const trackTable = `
| bug | what happened | file | in | law broken | steps | schedules | time |
|---|---|---|---|---|---|---|---|
`

// cells are the columns of a bug that measuring does not change.
func (b *Bug) cells() string {
	by := "an older generation"
	switch {
	case b.Open:
		by = "every generation: open"
	case b.By != "":
		by = "`" + b.By + "`"
	}
	return fmt.Sprintf("| [%s](%s) | %s | %s | %s | %s | %d |", b.ID, b.URL, strings.ReplaceAll(b.What, "|", "\\|"),
		link(b.File.Name), by, b.Law, b.Steps)
}

// measured are those that it does.
func (b *Bug) measured() string {
	return fmt.Sprintf(" %d | %s |", b.Schedules, b.Took.Round(time.Millisecond))
}

// TrackPage is docs/track-record.md, with what was measured of each bug; where nothing
// was, with what an earlier page says of it. The string names a bug of which that says
// nothing, "" for none.
func TrackPage(bugs []*Bug, seeds int, earlier string) ([]byte, string) {
	var b strings.Builder
	b.WriteString(trackHead)
	var steps, tried []int
	var took []time.Duration
	var rows strings.Builder
	for _, bug := range bugs {
		said := bug.measured()
		if bug.Found == 0 {
			at := strings.Index(earlier, "\n"+bug.cells())
			if at < 0 {
				return nil, bug.ID
			}
			said, _, _ = strings.Cut(earlier[at+1+len(bug.cells()):], "\n")
		}
		rows.WriteString(bug.cells() + said + "\n")
		steps, tried, took = append(steps, bug.Steps), append(tried, bug.Schedules), append(took, bug.Took)
	}
	if bugs[0].Found > 0 {
		slices.Sort(steps)
		slices.Sort(tried)
		slices.Sort(took)
		n := len(bugs) / 2
		ids := map[string]bool{}
		for _, bug := range bugs {
			ids[bug.ID] = true
		}
		fmt.Fprintf(&b, "\n%d bugs, in %d files, each looked for by %d seeds; ", len(ids), len(bugs), seeds)
		fmt.Fprintf(&b, "in the median %s and %s to find one, and %s.\n", plural(tried[n], "schedule"),
			took[n].Round(time.Millisecond), plural(steps[n], "step"))
	} else {
		_, line, _ := strings.Cut(earlier, "made small.\n\n")
		line, _, _ = strings.Cut(line, "\n")
		b.WriteString("\n" + line + "\n")
	}
	b.WriteString(trackTable + rows.String())
	b.WriteString(unfoundTable())
	b.WriteString(playedHead)
	for _, p := range played {
		file := link(p.file + ".txtar")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.bug, p.what, file, p.without)
	}
	return []byte(b.String()), ""
}
