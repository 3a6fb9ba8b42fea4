package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Text formats the page in [Width] columns.
func (p *Page) Text() string { return p.Wide(Width) }

// Wide formats the page in width columns, at least [Narrowest]. It leaves out lines that do not concern the failure.
func (p *Page) Wide(width int) string { return p.write(max(width, Narrowest), false) }

// Whole formats the page in width columns, and leaves out nothing.
func (p *Page) Whole(width int) string { return p.write(max(width, Narrowest), true) }

func (p *Page) write(width int, whole bool) string {
	var b strings.Builder
	if p.Title != "" {
		b.WriteString("--- FAIL: " + p.Title + "\n")
	}
	word := "violated"
	if p.Violation.Race {
		word = "lost to a race"
	}
	fmt.Fprintf(&b, "    %s %s at step %d\n", p.Violation.Law, word, p.Step())
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

// foot formats the parts after the story: the cycle, errors, output, owners, and commands.
func (p *Page) foot(width int, whole bool) string {
	var b strings.Builder
	if cycle := Fight(p.Lines, p.Violation); cycle != "" {
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

// story formats the lines that concern the failure. If the text has more than rows rows, it leaves out lines.
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

// Short formats only the timeline, without causes.
func (p *Page) Short() string { return Text(p.Lines) }

// Draw sets the command that draws the run, if the picture would show an owner or a fight.
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
	text := p.Violation.Sentence
	if p.Violation.Source != "" {
		text += " (" + p.Violation.Source + ")"
	}
	for rest := text; rest != ""; {
		var first string
		first, rest = fold(rest, width-4)
		b.WriteString("    " + first + "\n")
	}
}

// fitted indents a line at the end of a page. The command in a line that is too long gets its own line, so that users
// can copy it.
func fitted(line string, width int) string {
	if name, command, ok := strings.Cut(line, ": "); ok && len(line)+4 > width {
		line = name + ":\n      " + command
	}
	return "    " + line + "\n"
}

// The limits of a text page. The HTML page and [Page.Whole] have no limits.
const (
	storyLines = 30  // a longer timeline shows only lines about objects that concern the failure
	pageRows   = 116 // lines of a page
	cellRunes  = 140 // characters of a cell, for example of a change or an error
	treeRows   = 10  // lines of one tree of owners
)

type brief struct {
	lines []Line
	left  []string // descriptions of what was left out, with counts
}

// shorten removes lines that do not concern the failure. It never removes violations, user actions, faults, or
// lines in the cycle of a fight.
func (p *Page) shorten() *brief {
	b := &brief{}
	elected := elections(p.Lines)
	first := map[string]int{} // refusal -> index in b.lines
	quiet, again, probes := 0, 0, 0
	for i := range p.Lines {
		l := p.Lines[i]
		l.Detail = cut(l.Detail, cellRunes)
		if l.Refused {
			l.Detail = usual(l.Detail)
		}
		if !p.stays(&l) {
			kind := p.kind(&l)
			if !p.about[l.Object] && (kind == "Event" || kind == "Lease" && elected[l.Object] == 1) {
				quiet++
				continue
			}
			if l.Refused && !l.Stale && l.Verb == "get" && strings.HasPrefix(l.Detail, "404 ") {
				probes++
				continue
			}
			if at, repeated := first[l.refusal()]; l.Refused && !l.Stale && repeated {
				again++
				b.lines[at].more += l.Count
				continue
			}
		}
		if l.Refused {
			if _, repeated := first[l.refusal()]; !repeated {
				first[l.refusal()] = len(b.lines)
			}
		}
		b.lines = append(b.lines, l)
	}
	others := 0
	if len(b.lines) > storyLines && len(p.about) > 0 && len(p.Violation.Cycle) == 0 && p.Violation.Law != "always-settle" {
		n := len(b.lines)
		b.lines = slices.DeleteFunc(b.lines, func(l Line) bool { return !p.stays(&l) && !p.about[l.Object] })
		others = n - len(b.lines)
	}
	for _, o := range []struct {
		n    int
		what string
	}{{quiet, "of Leases and Events"}, {probes, "that read a missing object"}, {again, "like those shown"}, {others, "of other objects"}} {
		if o.n > 0 {
			b.left = append(b.left, strconv.Itoa(o.n)+" "+o.what)
		}
	}
	return b
}

func (p *Page) stays(l *Line) bool {
	r := p.history.At(l.Records[0])
	return len(l.Breaks) > 0 || r == nil || r.Process == "user" || !l.Write && !l.Refused ||
		slices.ContainsFunc(l.Records, func(i int) bool { return slices.Contains(p.Violation.Cycle, i) })
}

func (p *Page) kind(l *Line) string {
	if r := p.history.At(l.Records[0]); r != nil {
		return r.Object.Kind
	}
	return ""
}

// elections returns, for each object, the number of processes that write it or try to write it.
func elections(lines []Line) map[string]int {
	who, n := map[string]bool{}, map[string]int{}
	for i := range lines {
		l := &lines[i]
		if key := l.Who + " " + l.Object; !who[key] && (l.Write || l.Refused) {
			who[key] = true
			n[l.Object]++
		}
	}
	return n
}

// refusal returns a key by which refusals are compared.
func (l *Line) refusal() string {
	return l.Who + "\x00" + l.Verb + "\x00" + l.Object + "\x00" + l.Detail
}

// usual shortens the messages of the two most frequent refusals.
func usual(text string) string {
	switch {
	case strings.HasPrefix(text, "409 Conflict: Operation cannot be fulfilled on ") &&
		strings.Contains(text, "the object has been modified"):
		return "409 Conflict: the object has been modified"
	case strings.HasPrefix(text, "409 AlreadyExists: "):
		if from, to := strings.Index(text, `"`), strings.LastIndex(text, `" already exists`); from >= 0 && from < to {
			return "409 AlreadyExists: " + text[from+1:to]
		}
	}
	return text
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return text
}

// cutMiddle keeps the first third and the last part of a text that is longer than most.
func cutMiddle(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most/3]) + "..." + string(runes[len(runes)-most+most/3+3:])
	}
	return text
}

// concern finds the objects that concern the failure: the objects in named, their dependents and their owners.
func (p *Page) concern(h *sim.History, named []sim.Ref) {
	key := func(ref sim.Ref) string { return strings.TrimSuffix(ref.String(), "/") }
	owners := map[string][]string{}
	for i := range h.Records {
		r := &h.Records[i]
		if r.Op != sim.Commit || r.After == nil {
			continue
		}
		for _, o := range Owners(r.After) {
			if object := key(r.Object); !slices.Contains(owners[object], key(o.Ref)) {
				owners[object] = append(owners[object], key(o.Ref))
			}
		}
	}
	p.about = map[string]bool{}
	for _, ref := range named {
		p.about[key(ref)] = true
	}
	grow := func(more func(object, owner string) (add string, ok bool)) {
		for grown := true; grown; {
			grown = false
			for object, list := range owners { //detcheck:ordered until nothing more is added
				for _, owner := range list {
					if add, ok := more(object, owner); ok && !p.about[add] {
						p.about[add], grown = true, true
					}
				}
			}
		}
	}
	grow(func(object, owner string) (string, bool) { return object, p.about[owner] })
	grow(func(object, owner string) (string, bool) { return owner, p.about[object] })
}

func (l *Line) told() string {
	from, to := round(l.From), round(l.To)
	if from == to {
		return from.String()
	}
	return from.String() + ".." + to.String()
}

func round(at time.Duration) time.Duration {
	if at < time.Millisecond {
		return at
	}
	return at.Round(time.Millisecond)
}

// elide shortens two trees to the rows that differ, with some context.
func elide(a, b string) (string, string) {
	return elideRows(a, b), elideRows(b, a)
}

func elideRows(tree, other string) string {
	rows := strings.Split(strings.TrimRight(tree, "\n"), "\n")
	if len(rows) <= treeRows {
		return tree
	}
	same := strings.Split(other, "\n")
	var b strings.Builder
	shown, left := 0, 0
	flush := func() {
		if left > 0 {
			fmt.Fprintf(&b, "... %d more\n", left)
			left = 0
		}
	}
	for i, row := range rows {
		differs := !slices.Contains(same, row)
		if i >= 4 && i < len(rows)-1 && (!differs || shown >= treeRows-2) {
			left++
			continue
		}
		flush()
		b.WriteString(row + "\n")
		shown++
	}
	return b.String()
}
