package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
)

// picture prints a run as a page or as a picture; with --json as a string.
func picture(a *app, as, title string, src page.Source) error {
	p := page.Of(titleOf(title), src)
	text := p.SVG()
	if as == "html" {
		var err error
		if text, err = p.HTML(); err != nil {
			return err
		}
	}
	switch {
	case a.json && as == "html":
		return a.encode(drawn{HTML: string(text)})
	case a.json:
		return a.encode(drawn{SVG: string(text)})
	}
	_, err := a.out.Write(text)
	return err
}

// extensionHTML is how the names of pages end.
const extensionHTML = ".html"

// beside is the page's name beside the file that replays what it shows.
func beside(path string) string { return strings.TrimSuffix(path, extension) + extensionHTML }

// pageOf is where the page of a run of a file is left: where explore has left one, else
// in the directory of failures, by the name of the file with its family's.
func pageOf(file, law string) string {
	if path := beside(file); onDisk(file) {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	name := strings.TrimSuffix(filepath.Base(file), extension)
	if file == stdin {
		name = "stdin"
	}
	if law != "" {
		name += "-" + law
	}
	if family := filepath.Base(filepath.Dir(file)); family != "." && !strings.HasPrefix(family, ".") {
		name = family + "-" + name
	}
	return filepath.Join(failuresDir, name+extensionHTML)
}

// leave writes the page of a failure, and says in it where. That it cannot be written is
// told, and changes nothing of the verdict.
func (a *app) leave(path string, p *render.Page, found func() *render.Page) {
	text, err := page.Counterexample(p, found).HTML()
	if dir := filepath.Dir(path); err == nil && dir == failuresDir {
		err = makeOut(dir)
	}
	if err == nil {
		err = writeWhole(path, text)
	}
	if err != nil {
		fmt.Fprintf(a.err, "%s: no page is left: %v\n", a.name, err)
		return
	}
	p.HTML = path
}
