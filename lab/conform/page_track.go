package conform

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

const trackHead = `# Track record

For readers who ask whether exploration finds real bugs. Each row is an ownership bug that was reported, and the
scenario file that finds it again. The file has a plain world. Exploration finds the bug in a controller without the
guard that fixed it, which is a mutant or an older era. The right controller passes the same schedules. An *open* bug
is not fixed upstream: the right controller loses the race too, which is a violation of *committed* strength.

Schedules run one after the other on one core. *Schedules* and *time* are medians over the seeds, until the bug
shows. *Steps* is the length of the minimized timeline.
`

// unfound is the table of the bugs that no file finds, with the reasons.
//
//go:embed unfound.md
var unfound string

const trackTable = `
| bug | what happened | file | in | violated law | steps | schedules | time |
|---|---|---|---|---|---|---|---|
`

// row is the line of a bug.
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

// TrackPage returns docs/evidence/track-record.md: the measurements of each bug over so many seeds.
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
	fmt.Fprintf(&b, "\n%d bugs, in %d files, each searched for with %d seeds. The median is %s and %s to find a bug, "+
		"and %s to show it.\n", len(ids), len(bugs), seeds, plural(tried[n], "schedule"),
		took[n].Round(time.Millisecond), plural(steps[n], "step"))
	b.WriteString(trackTable)
	for _, bug := range bugs {
		b.WriteString(bug.row())
	}
	b.WriteString(unfound)
	return []byte(b.String())
}
