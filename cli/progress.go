package cli

import (
	"fmt"
	"io"
)

// progressLine is a line on the terminal that is written over. Without a
// terminal it is nothing.
type progressLine struct {
	to   io.Writer // nil for nowhere
	wide int       // its columns
	used bool
}

// progress begins a line.
func (c *console) progress() *progressLine {
	if !c.live {
		return &progressLine{}
	}
	return &progressLine{to: c.err, wide: min(c.width, 80) - 1}
}

func (p *progressLine) show(format string, args ...any) {
	if p.to == nil {
		return
	}
	p.used = true
	fmt.Fprintf(p.to, "\r\x1b[K%.*s", p.wide, fmt.Sprintf(format, args...))
}

// clear takes the line away, for what is printed next.
func (p *progressLine) clear() {
	if p.used {
		p.used = false
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
