package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/threelaws/threelaws/internal/render"
)

// console is what commands write to.
type console struct {
	out, err io.Writer
	colour   bool // out may be coloured
	live     bool // err may be written over, for progress
	width    int  // the columns of a page

	json bool // --json

	lost error // the first that kept text from being printed
}

// print writes text, coloured on a terminal.
func (c *console) print(text string) {
	if c.colour {
		text = render.Color(text)
	}
	if _, err := io.WriteString(c.out, text); c.lost == nil {
		c.lost = err
	}
}

func (c *console) printf(format string, args ...any) { c.print(fmt.Sprintf(format, args...)) }

// encode writes a value as JSON.
func (c *console) encode(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// line writes a value as one line of JSON, for what comes piece by piece.
func (c *console) line(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// prose is the width of text that is no easier to read where there is more room.
func (c *console) prose() int { return min(c.width, render.Width) }

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// columns is how wide a page for this file may be: $COLUMNS or what the terminal
// says of itself, and for what is no terminal the width that everything fits in.
func columns(f *os.File, env string) int {
	if !isTerminal(f) {
		return render.Width
	}
	if n, err := strconv.Atoi(env); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return render.Width
}
