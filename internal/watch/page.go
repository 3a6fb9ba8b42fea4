package watch

import (
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Page formats a finding as a page of this width.
func (f *Finding) Page(width int) string {
	var b strings.Builder
	head := "--- " + string(f.Sort) + ": " + f.Object
	if f.Goes {
		head = "--- " + string(f.Sort) + " goes on: " + f.Object
	}
	if f.Sort != Fight && len(f.Who) > 0 {
		head += ", by " + strings.Join(f.Who, " and ")
	}
	b.WriteString(render.Plain(head) + "\n")
	text := render.Table{Indent: "    ", Width: width}
	text.Add(render.Plain(f.Text))
	b.WriteString(text.String())
	if f.Goes || len(f.Story) == 0 {
		return b.String()
	}
	if f.Sort == Fight {
		b.WriteString("\n    one round:\n")
	} else {
		b.WriteString("\n")
	}
	story := render.Table{Indent: "    ", Width: width}
	for _, l := range f.Story {
		cells := []string{l.At.UTC().Format("15:04:05.000"), render.Plain(l.Who), render.Plain(l.Did)}
		if l.Change != "" {
			cells = append(cells, render.Plain(l.Change))
		}
		story.Add(cells...)
	}
	b.WriteString(story.String() + "\n")
	return b.String()
}
