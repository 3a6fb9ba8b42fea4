package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/scenarios"
)

// pages are the pages of all files that are run, and their index.
type pages struct {
	dir string // "" for none

	mu   sync.Mutex // files are run several at a time
	rows map[string]page.Row
	err  error // the first that kept one from being written
}

// newPages makes the directory.
func newPages(dir string) (*pages, error) {
	s := &pages{dir: dir, rows: map[string]page.Row{}}
	if dir == "" {
		return s, nil
	}
	if err := makeOut(dir); err != nil {
		return nil, usage("--html: %v", err)
	}
	return s, nil
}

// watching lets the run of a file be written down as a page when it is over.
func (s *pages) watching(a *app, name string, o scenarios.Options) scenarios.Options {
	if s.dir == "" {
		return o
	}
	o.Inspect = func(r *scenarios.Run) {
		src := page.Whole("the run", &r.World().History, r.Breaches())
		src.Replay = a.name + " replay " + argument(name)
		row := page.Row{Name: titleOf(name), Page: slug(titleOf(name))}
		for _, b := range r.Breaches() {
			row.Broken = append(row.Broken, page.Cell{Law: b.Law, Sentence: b.Sentence, Race: b.Race})
		}
		text, err := page.Of(titleOf(name), src).HTML()
		if err == nil {
			err = writeWhole(filepath.Join(s.dir, row.Page), text)
		} else {
			row.Page, row.Why, err = "", err.Error(), nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for other, r := range s.rows {
			if err == nil && r.Page != "" && r.Page == row.Page {
				err = fmt.Errorf("%s and %s have one page, %s", min(name, other), max(name, other), row.Page)
			}
		}
		s.rows[name] = row
		if s.err == nil {
			s.err = err
		}
	}
	return o
}

// passed notes that what broke in the run of a file broke as the file expects.
func (s *pages) passed(name string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row, ok := s.rows[name]; ok {
		row.Expected = code == scenarios.ExitPass
		s.rows[name] = row
	}
}

// slug is the name of a page in a directory of pages.
func slug(title string) string {
	return strings.NewReplacer("/", "-", "\\", "-").Replace(strings.TrimSuffix(title, extension)) + extensionHTML
}

// index writes the page that leads to all others, in the order of the files.
func (s *pages) index(files []string) error {
	if s.dir == "" {
		return nil
	}
	var rows []page.Row
	for _, name := range files {
		if row, ok := s.rows[name]; ok {
			rows = append(rows, row)
		}
	}
	if s.err == nil {
		s.err = os.WriteFile(filepath.Join(s.dir, "index.html"), page.Index("threelaws run", rows), 0o644)
	}
	if s.err != nil {
		return usage("--html: %v", s.err)
	}
	return nil
}
