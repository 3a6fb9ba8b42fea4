package page

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Break is a violation in the run.
type Break struct {
	Law      string   `json:"law"`
	Sentence string   `json:"sentence"`
	Source   string   `json:"source,omitempty"`
	Text     string   `json:"text,omitempty"`
	Race     bool     `json:"race,omitempty"`
	Line     int      `json:"line,omitempty"`  // the line that broke it
	First    int      `json:"first,omitempty"` // of a fight: the lines of its cycle
	Last     int      `json:"last,omitempty"`
	Story    []string `json:"story,omitempty"` // what happened, in sentences; of a fight, its cycle
}

// mostStory limits the sentences that describe a fight before its lines.
const mostStory = 6

// broken adds a violation, once.
func (m *maker) broken(b *render.Mark) {
	j := m.breakOf(b)
	again := func(b Break) bool { return b.Law == j.Law && b.Line == j.Line && b.Text == j.Text }
	if !slices.ContainsFunc(m.run.Breaks, again) {
		m.run.Breaks = append(m.run.Breaks, j)
	}
}

// breakOf returns a violation with its lines.
func (m *maker) breakOf(b *render.Mark) Break {
	j := Break{Law: b.Law, Sentence: b.Sentence, Source: b.Source, Text: b.Text, Race: b.Race}
	for i := range m.lines {
		for _, r := range m.lines[i].Records {
			if r == b.Record {
				j.Line = m.lines[i].N
			}
		}
	}
	if first, last, ok := render.Numbers(m.lines, b.Cycle); ok {
		j.First, j.Last = first, last
		for _, l := range m.lines[first-1 : min(last, first-1+mostStory)] {
			j.Story = append(j.Story, sentence(&l))
		}
	} else if j.Line > 0 {
		if l := &m.lines[j.Line-1]; l.Write || l.Refused {
			j.Story = []string{sentence(l)}
		}
	}
	return j
}

// sentence describes a line: "rs/a deletes pod/b-1".
func sentence(l *render.Line) string {
	verb, rest, _ := strings.Cut(l.Verb, " ")
	switch {
	case verb == "status":
		verb = "writes the status of"
	case strings.HasSuffix(verb, "ch"), strings.HasSuffix(verb, "s"):
		verb += "es"
	case strings.HasSuffix(verb, "y"):
		verb = strings.TrimSuffix(verb, "y") + "ies"
	default:
		verb += "s"
	}
	text := l.Who + " " + verb
	if rest != "" {
		text += " " + rest
	}
	if l.Object != "" && l.Object != l.Who {
		text += " " + l.Object
	} else if l.Object != "" {
		text += " itself"
	}
	if l.Refused {
		text += " and is refused"
	}
	return text
}
