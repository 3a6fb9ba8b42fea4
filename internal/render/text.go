package render

import (
	"fmt"
	"strings"
)

// Text renders the page in [Width] columns.
func (p *Page) Text() string { return p.Wide(Width) }

// Wide renders the page in so many columns, at least [Narrowest].
func (p *Page) Wide(width int) string {
	width = max(width, Narrowest)
	var b strings.Builder
	if p.Title != "" {
		b.WriteString("--- FAIL: " + p.Title + "\n")
	}
	word := "broken"
	if p.Breach.Race {
		word = "lost to a race"
	}
	fmt.Fprintf(&b, "    %s %s at step %d\n", p.Breach.Law, word, p.Step())
	p.sentence(&b, width)
	b.WriteByte('\n')
	b.WriteString(story(p.Lines, "    ", width, pageLines))
	if cycle := Fight(p.Lines, p.Breach); cycle != "" {
		b.WriteString("\n    " + cycle + "\n")
	}
	p.errors(&b, width)
	for _, o := range p.Printed {
		b.WriteString("\n    the last lines that " + o.Process + " printed\n")
		t := Table{Indent: "      ", Width: width}
		for _, line := range o.Lines {
			t.Add(line)
		}
		b.WriteString(t.String())
	}
	if p.Before != "" {
		b.WriteByte('\n')
		before := fmt.Sprintf("owners before step %d", p.heads[0])
		after := fmt.Sprintf("owners after step %d", p.heads[1])
		trees := Beside(before, indent(p.Before, "  "), after, indent(p.After, "  "), width-6)
		b.WriteString(indent(trees, "    "))
	}
	b.WriteByte('\n')
	if p.Small != "" {
		b.WriteString(indent(foldAt(p.Small, width-4), "    "))
	}
	for _, line := range []string{label("replay: ", p.Replay), label("picture: ", p.Picture), label("page: ", p.HTML)} {
		if line != "" {
			b.WriteString(fitted(line, width))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Step is the number of the line that broke the law, 0 when there is none.
func (p *Page) Step() int {
	if p.broken < 0 || p.broken >= len(p.Lines) {
		return 0
	}
	return p.Lines[p.broken].N
}

// Short renders the timeline alone, without causes.
func (p *Page) Short() string { return Text(p.Lines) }

// Draw names the command that draws the run, where a picture would have
// anything to show: an owner, or a fight.
func (p *Page) Draw(command string) {
	if p.drawn {
		p.Picture = command
	}
}

func label(name, text string) string {
	if text == "" {
		return ""
	}
	return name + text
}

func (p *Page) sentence(b *strings.Builder, width int) {
	text := p.Breach.Sentence
	if p.Breach.Source != "" {
		text += " (" + p.Breach.Source + ")"
	}
	for rest := text; rest != ""; {
		var first string
		first, rest = fold(rest, width-4)
		b.WriteString("    " + first + "\n")
	}
}

// fitted indents a line at the foot of a page so wide. A command that is too long
// for it stands whole on a line of its own, to be copied.
func fitted(line string, width int) string {
	if name, command, ok := strings.Cut(line, ": "); ok && len(line)+4 > width {
		line = name + ":\n      " + command
	}
	return "    " + line + "\n"
}
