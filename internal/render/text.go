package render

import (
	"fmt"
	"strings"
)

// Text formats the page in [Width] columns.
func (p *Page) Text() string { return p.Wide(Width) }

// Wide formats the page in width columns, at least [Narrowest]. It leaves out what is repetitive.
func (p *Page) Wide(width int) string { return p.write(max(width, Narrowest), false) }

// Whole formats all of the page in width columns.
func (p *Page) Whole(width int) string { return p.write(max(width, Narrowest), true) }

func (p *Page) write(width int, whole bool) string {
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
	foot := p.foot(width, whole)
	if whole {
		b.WriteString((&layout{indent: "    ", width: width, most: len(p.Lines), time: (*Line).time}).text(p.Lines))
	} else {
		p.story(&b, width, pageRows-strings.Count(b.String()+foot, "\n"))
	}
	return strings.TrimRight(b.String()+foot, "\n") + "\n"
}

// foot returns the text beneath the story.
func (p *Page) foot(width int, whole bool) string {
	var b strings.Builder
	if cycle := Fight(p.Lines, p.Breach); cycle != "" {
		b.WriteString("\n    " + cycle + "\n")
	}
	p.errors(&b, width, whole)
	p.log(&b, width, whole)
	if p.Before != "" {
		b.WriteByte('\n')
		before := fmt.Sprintf("owners before step %d", p.heads[0])
		after := fmt.Sprintf("owners after step %d", p.heads[1])
		x, y := p.Before, p.After
		if !whole {
			x, y = elide(x, y)
		}
		trees := Beside(before, indent(x, "  "), after, indent(y, "  "), width-6)
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
	return b.String()
}

// story formats the lines that the failure is about, in at most rows rows.
func (p *Page) story(b *strings.Builder, width, rows int) {
	short := p.shorten()
	var text string
	for _, most := range []int{60, 50, 40, 32, 26, 20, 14} {
		text = (&layout{indent: "    ", width: width, most: most, time: (*Line).told, fold: true}).text(short.lines)
		if strings.Count(text, "\n") <= rows {
			break
		}
	}
	b.WriteString(text)
	if len(short.left) > 0 {
		b.WriteString(indent(foldAt("steps left out: "+strings.Join(short.left, ", "), width-10), "          "))
	}
}

// Step returns the number of the violating line, or 0.
func (p *Page) Step() int {
	if p.broken < 0 || p.broken >= len(p.Lines) {
		return 0
	}
	return p.Lines[p.broken].N
}

// Short formats the timeline alone, without causes.
func (p *Page) Short() string { return Text(p.Lines) }

// Draw sets the command that draws the run, if there is an owner or a fight to draw.
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

// fitted indents a line at the foot of a page. A command that is too long stays on one line of its own, for copying.
func fitted(line string, width int) string {
	if name, command, ok := strings.Cut(line, ": "); ok && len(line)+4 > width {
		line = name + ":\n      " + command
	}
	return "    " + line + "\n"
}
