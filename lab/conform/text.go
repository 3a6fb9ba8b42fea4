package conform

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// count is how many rows of a sheet are in a state.
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

// mark is how a state is ticked.
var mark = map[State]string{Held: "[x]", Broken: "[-]", Breaking: "[!]", Unasked: "[ ]", NotIts: " - "}

// Note is what there is to say of a row beside its state.
func (row *Row) Note() string {
	switch row.State {
	case Held:
		return fmt.Sprintf("asked %s in %s of %s", times(row.Asked), plural(row.Schedules, "schedule"),
			plural(row.Worlds, "world"))
	case Broken, Breaking:
		text := fmt.Sprintf("broken in %s", plural(row.Broken, "schedule"))
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
			return "not asked"
		}
		return "not asked: " + row.Why
	}
	return "does not apply: " + row.Why
}

// Text is the list for a terminal: every clause of each controller, or without rows how many
// clauses each keeps, and what is not as it should be.
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
	t.Add("controller", "held", "broken", "not asked", "does not apply")
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
	text := fmt.Sprintf("%s, %d broken as older eras may", plural(held, "clause")+" held", broken)
	if breaking > 0 {
		text += fmt.Sprintf(", %d broken", breaking)
	}
	if unasked > 0 {
		text += fmt.Sprintf(", %d not asked", unasked)
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
