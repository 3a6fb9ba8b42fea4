package conform

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// count returns the number of rows in any of the states.
func (s *Sheet) count(states ...State) int {
	n := 0
	for _, row := range s.Rows {
		for _, state := range states {
			if row.State == state {
				n++
			}
		}
	}
	return n
}

// mark has the tick box of each state.
var mark = map[State]string{Held: "[x]", Broken: "[-]", Breaking: "[!]", Unasked: "[ ]", NotIts: " - "}

// Note explains the state of a row.
func (row *Row) Note() string {
	switch row.State {
	case Held:
		return fmt.Sprintf("evaluated %s in %s of %s", times(row.Asked), plural(row.Schedules, "schedule"),
			plural(row.Worlds, "world"))
	case Broken, Breaking:
		text := fmt.Sprintf("violated in %s", plural(row.Broken, "schedule"))
		if row.Why != "" {
			text += ": " + row.Why
		}
		if b := row.Breach; b != nil {
			text += fmt.Sprintf("; in %s of %s: %s", plural(b.Steps, "step"),
				strings.TrimSuffix(path.Base(b.World), ".txtar"), b.Text)
		}
		return text
	case Unasked:
		if row.Why == "" {
			return "not exercised"
		}
		return "not exercised: " + row.Why
	}
	return "does not apply: " + row.Why
}

// Text formats a report for a terminal. With rows it lists every clause of each controller. Without rows it has
// the counts of each controller, and the wrong rows.
func Text(r *Report, width int, rows bool) string {
	var b strings.Builder
	if rows {
		for _, s := range r.Sheets {
			t := render.Table{Indent: "  ", Width: width}
			for _, row := range s.Rows {
				t.Add(mark[row.State], row.ID, row.Law, row.Note())
			}
			b.WriteString(s.String() + "\n" + t.String() + "\n")
		}
		return b.String() + r.summary()
	}
	t := render.Table{Width: width}
	t.Add("controller", "held", "violated", "not exercised", "does not apply")
	for _, s := range r.Sheets {
		t.Add(s.String(), strconv.Itoa(s.count(Held)), strconv.Itoa(s.count(Broken, Breaking)),
			strconv.Itoa(s.count(Unasked)), strconv.Itoa(s.count(NotIts)))
	}
	b.WriteString(t.String() + "\n")
	for _, line := range r.Amiss() {
		b.WriteString(line + "\n")
	}
	return b.String() + r.summary()
}

func (r *Report) summary() string {
	held, broken, breaking, unasked := 0, 0, 0, 0
	for _, s := range r.Sheets {
		held, broken = held+s.count(Held), broken+s.count(Broken)
		breaking, unasked = breaking+s.count(Breaking), unasked+s.count(Unasked)
	}
	text := fmt.Sprintf("%s, %d violated as older eras may", plural(held, "clause")+" held", broken)
	if breaking > 0 {
		text += fmt.Sprintf(", %d violated", breaking)
	}
	if unasked > 0 {
		text += fmt.Sprintf(", %d not exercised", unasked)
	}
	return text + fmt.Sprintf(" (%s of %s)\n", plural(r.Schedules, "schedule"), plural(r.Worlds, "world"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
