package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/threelaws/threelaws/internal/render"
)

// width is how many columns a page may take: those of the terminal that reads
// it, at least the number that everything fits in, which any other reader gets.
func (a *app) width() int { return columns(a.out) }

func columns(out io.Writer) int {
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return max(n, render.Width)
		}
	}
	return render.Width
}
