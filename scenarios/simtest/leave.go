package simtest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// leave writes the page of a failure beside the file that replays it, where git does not
// take it: the file is what is kept.
func leave(path string, p *render.Page, found func() *scenarios.Page) error {
	text, err := page.Counterexample(p, found).HTML()
	if err != nil {
		return err
	}
	html := strings.TrimSuffix(path, ".txtar") + ".html"
	if err := os.WriteFile(html, text, 0o644); err != nil {
		return err
	}
	p.HTML = html
	ignore := filepath.Join(filepath.Dir(path), ".gitignore")
	if _, err := os.Stat(ignore); err == nil {
		return nil
	}
	return os.WriteFile(ignore, []byte("*.html\n.gitignore\n"), 0o644)
}
