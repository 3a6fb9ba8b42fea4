package page

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode"
)

// The measures of a picture in pixels, its limits, and its colours.
const (
	rowHigh, headHigh          = 34, 64
	textWide, bracketWide      = 340, 34
	processWide, objectWide    = 118, 96
	mostRows                   = 60    // maximal number of rows; the middle of a longer run is left out
	mostWords, letterWide      = 40, 9 // maximal length of a row's first text, in letters; width of a bold letter
	fontSize, smallSize        = 12, 10
	lightStyle                 = "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#1b1f24}"
	create, remove, own, other = "#116b36", "#1b1f24", "#6b34b3", "#0b57b0"
	refusal, wrong, soft       = "#6e7781", "#b42318", "#57606a"
)

type picture struct {
	bytes.Buffer

	run     *Run
	rows    []Line
	left    int         // the number of lines that were left out
	process map[int]int // the x coordinate of each process's lane; the key is its position in Run.Processes, from 1
	object  map[int]int // the x coordinate of each object lane; the key is its position in Run.Lanes[Run.Fold], from 1
	wide    int
	top     int
}

// SVG returns the first run's swimlane as a static picture, for a document or an issue.
func (p *Page) SVG() []byte {
	d := &picture{run: p.Runs[0], process: map[int]int{}, object: map[int]int{}, top: headHigh}
	d.rows = d.run.Lines
	if n := len(d.rows); n > mostRows {
		d.left = n - mostRows
		d.rows = append(append([]Line{}, d.rows[:mostRows/2]...), d.rows[n-mostRows/2:]...)
	}
	if len(d.run.Breaks) > 0 {
		d.top += 44
	}
	d.place()
	high := d.top + len(d.rows)*rowHigh + 12
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`aria-label="%s">`+"\n<style>%s</style>\n", d.wide, high, d.wide, high, escape(p.alt()), lightStyle)
	fmt.Fprintf(d, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", d.wide, high)
	d.verdict()
	d.heads(high)
	d.lives()
	for i := range d.rows {
		d.row(i)
	}
	d.brackets()
	d.WriteString("</svg>\n")
	return d.Bytes()
}

func (p *Page) alt() string {
	if bs := p.Runs[0].Breaks; len(bs) > 0 {
		return p.Title + ": " + bs[0].Law + " is violated. " + strings.Join(bs[0].Story, ", then ")
	}
	return p.Title
}

func (d *picture) place() {
	x := textWide + bracketWide
	for i, p := range d.run.Processes {
		if p.Acts {
			d.process[i+1] = x + processWide/2
			x += processWide
		}
	}
	for i := range d.run.Lanes[d.run.Fold] {
		d.object[i+1] = x + objectWide/2
		x += objectWide
	}
	d.wide = max(x+12, 720)
}

func (d *picture) lane(object int) int {
	if object == 0 {
		return 0
	}
	return d.object[d.run.Objects[object-1].Lane[d.run.Fold]]
}

// escape escapes text for XML. It replaces control characters, which XML does not allow.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\ufffe' || r == '\uffff' {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

func short(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// tail shortens a name at its beginning. Names mostly differ at their ends.
func tail(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return name
}

func (d *picture) text(x, y, size int, anchor, fill, weight, words string) {
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="%s" style="font-size:%dpx;font-weight:%s;fill:%s">%s</text>`+"\n",
		x, y, anchor, size, weight, fill, escape(words))
}

func (d *picture) verdict() {
	if len(d.run.Breaks) == 0 {
		return
	}
	b := &d.run.Breaks[0]
	fmt.Fprintf(d, `<rect width="%d" height="44" fill="#fde7e4"/>`+"\n", d.wide)
	fmt.Fprintf(d, `<rect width="6" height="44" fill="%s"/>`+"\n", wrong)
	d.text(16, 18, 15, "start", wrong, "bold", fmt.Sprintf("%s is violated at step %d", b.Law, b.Line))
	story := strings.Join(b.Story, ", then ")
	if b.First > 0 {
		story += " — and so on, for ever"
	} else if b.Text != "" {
		story = strings.TrimPrefix(story+": "+b.Text, ": ")
	}
	d.text(16, 36, fontSize, "start", "#1b1f24", "normal", short(story, d.wide/7))
}

func (d *picture) heads(high int) {
	y := d.top - headHigh + 28
	d.text(12, y, fontSize, "start", soft, "bold", "time runs downwards")
	for i, p := range d.run.Processes {
		x := d.process[i+1]
		if x == 0 {
			continue
		}
		d.text(x, y, fontSize, "middle", "#1b1f24", "bold", tail(p.Name, processWide/letterWide))
		d.text(x, y+16, smallSize, "middle", soft, "normal", short(strings.Join(p.Syncs, " "), processWide/6))
		fmt.Fprintf(d, `<path d="M%d %dV%d" stroke="#c4ccd6" stroke-width="3"/>`+"\n", x, d.top-10, high-6)
	}
	for i, l := range d.run.Lanes[d.run.Fold] {
		x := d.object[i+1]
		d.text(x, y, fontSize, "middle", "#1b1f24", "bold", tail(l.label(), objectWide/letterWide))
		fmt.Fprintf(d, `<path d="M%d %dV%d" stroke="#c4ccd6"/>`+"\n", x, d.top-10, high-6)
	}
}

// lives draws the time in which each object existed.
func (d *picture) lives() {
	born := map[int]int{}
	for i := range d.run.Records {
		r := &d.run.Records[i]
		if r.Op != "commit" || d.lane(r.Object) == 0 {
			continue
		}
		if _, ok := born[r.Object]; !ok {
			born[r.Object] = d.height(i)
		}
		if r.After == 0 {
			d.life(r.Object, born[r.Object], d.height(i))
			delete(born, r.Object)
		}
	}
	for o := range d.run.Objects {
		if from, ok := born[o+1]; ok {
			d.life(o+1, from, d.top+len(d.rows)*rowHigh)
		}
	}
}

func (d *picture) life(object, from, to int) {
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="16" height="%d" rx="4" fill="#dfe7f0"/>`+"\n", d.lane(object)-8, from,
		max(2, to-from))
}

func (d *picture) height(record int) int {
	y := d.top - 10
	for i := range d.rows {
		if at := d.rows[i].Record; at == record {
			return d.top + i*rowHigh + rowHigh/2
		} else if at > record {
			break
		}
		y = d.top + (i+1)*rowHigh
	}
	return y
}

func (d *picture) row(i int) {
	l := &d.rows[i]
	r := &d.run.Records[l.Record]
	y := d.top + i*rowHigh
	fill := "#1b1f24"
	if len(l.Breaks) > 0 {
		fill = wrong
		fmt.Fprintf(d, `<rect x="0" y="%d" width="%d" height="%d" fill="#fde7e4"/>`+"\n", y, d.wide, rowHigh)
	}
	if d.left > 0 && i == mostRows/2 {
		d.text(40, y-3, smallSize, "start", soft, "normal", fmt.Sprintf("… %d more", d.left))
	}
	mark := fmt.Sprint(l.N)
	if l.Stale {
		mark = "~" + mark
	}
	d.text(30, y+16, fontSize, "end", fill, "bold", mark)
	said := strings.TrimSpace(l.Who + " " + l.Verb + " " + l.Object)
	d.text(38, y+16, fontSize, "start", fill, "bold", short(said, mostWords))
	more := l.Did
	if l.Because != "" {
		more = strings.TrimPrefix(more+" · because "+l.Because, " · ")
	}
	d.text(38, y+29, smallSize, "start", soft, "normal", short(more, mostWords+8))
	if len(l.Breaks) > 0 {
		at := y + 21
		if r.Op == "commit" {
			at = y + rowHigh - 3 // below the arrow
		}
		d.text(textWide+bracketWide+8, at, fontSize, "start", wrong, "bold",
			short(strings.Join(l.Breaks, "; "), (d.wide-textWide)/8))
	}
	from, to := d.process[r.Process], d.lane(r.Object)
	switch {
	case r.Op == "fault" && from > 0:
		d.text(from, y+20, fontSize, "middle", "#8a5300", "bold", "⚡ "+r.Verb)
	case from > 0 && to > 0 && (r.Op == "commit" || r.Op == "refusal"):
		d.arrow(l, from, to, y+rowHigh/2)
	}
}

func (d *picture) arrow(l *Line, from, to, y int) {
	colour, dash := other, ""
	switch {
	case len(l.Breaks) > 0:
		colour = wrong
	case l.Refused:
		colour, dash = refusal, ` stroke-dasharray="5 4"`
	case l.Verb == "create":
		colour = create
	case l.Verb == "delete":
		colour = remove
	case l.Verb == "adopt", l.Verb == "release", l.Verb == "take over":
		colour = own
	}
	side, anchor := 1, "start"
	if to > from {
		side, anchor = -1, "end"
	}
	fmt.Fprintf(d, `<path d="M%d %dH%d" stroke="%s" stroke-width="2" fill="none"%s/>`+"\n", from, y, to+8*side, colour,
		dash)
	fmt.Fprintf(d, `<circle cx="%d" cy="%d" r="4" fill="%s"/>`+"\n", from, y, colour)
	switch {
	case l.Refused:
		fmt.Fprintf(d, `<circle cx="%d" cy="%d" r="6" fill="#ffffff" stroke="%s" stroke-width="2"/>`+"\n", to, y,
			colour)
	case l.Verb == "create":
		fmt.Fprintf(d, `<circle cx="%d" cy="%d" r="7" fill="%s"/>`+"\n", to, y, colour)
	case l.Verb == "delete":
		fmt.Fprintf(d, `<path d="M%d %dl12 12m0 -12l-12 12" stroke="%s" stroke-width="3"/>`+"\n", to-6, y-6, colour)
	default:
		fmt.Fprintf(d, `<path d="M%d %dl7 8l-7 8l-7 -8z" fill="%s"/>`+"\n", to, y-8, colour)
	}
	d.text(to+14*side, y-4, fontSize, anchor, colour, "bold", l.Verb)
}

func (d *picture) brackets() {
	for _, b := range d.run.Breaks {
		first, last := -1, -1
		for i := range d.rows {
			if n := d.rows[i].N; b.First > 0 && n >= b.First && n <= b.Last {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		if first < 0 {
			continue
		}
		x, y, z := textWide+22, d.top+first*rowHigh+3, d.top+(last+1)*rowHigh-3
		fmt.Fprintf(d, `<path d="M%d %dH%dV%dH%dm-6 -4l7 4l-7 4" stroke="%s" stroke-width="3" fill="none"/>`+"\n",
			x+11, z, x, y, x+11, wrong)
		fmt.Fprintf(d, `<text transform="translate(%d %d) rotate(-90)" text-anchor="middle" `+
			`style="font-weight:bold;fill:%s">for ever</text>`+"\n", x-6, (y+z)/2, wrong)
	}
}
