package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/conform"
	"github.com/threelaws/threelaws/internal/page"
)

// clausePages are the pages of what a conformance found: a grid of clauses by controllers, a list for
// each controller of how it stands to each clause and what that rests on, and of each clause that is
// broken the run that breaks it.
type clausePages struct {
	dir   string
	cover map[string]*conform.Cover
}

// writePages writes them into a directory that is there.
func writePages(dir string, r *conform.Report, cover []*conform.Cover) error {
	p := &clausePages{dir: dir, cover: map[string]*conform.Cover{}}
	for _, c := range cover {
		p.cover[c.ID] = c
	}
	var rows []page.GridRow
	var columns []page.Entry
	at := map[string]int{}
	for i, s := range r.Sheets {
		columns = append(columns, page.Entry{Text: s.String(), Page: sheetPage(s)})
		var ticks []page.Entry
		for _, row := range s.Rows {
			k, there := at[row.ID]
			if !there {
				k = len(rows)
				at[row.ID] = k
				rows = append(rows, page.GridRow{Head: page.Entry{Text: strings.TrimSpace(row.ID + " " + row.Law),
					More: row.Sentence}, In: make([]page.Entry, len(r.Sheets))})
			}
			e, err := p.tick(s, row)
			if err != nil {
				return err
			}
			rows[k].In[i] = e
			ticks = append(ticks, e)
		}
		if err := p.sheet(s, ticks); err != nil {
			return err
		}
	}
	words := fmt.Sprintf("What each controller does about each clause, in %d schedules of %d worlds. What is "+
		"broken leads to the shortest run that was found, all else to what it rests on.", r.Schedules, r.Worlds)
	return p.write("index.html", page.Grid("threelaws conformance", words, "clause", columns, rows))
}

// sheetPage is the name of a controller's page.
func sheetPage(s *conform.Sheet) string { return slug(s.String()) }

// looks says how the states of a clause are shown.
var looks = map[conform.State][2]string{
	conform.Held: {"held", "kept"}, conform.Broken: {"broken, as expected", "expected"},
	conform.Breaking: {"broken", "broken"}, conform.Unasked: {"not asked", ""}, conform.NotIts: {"does not apply", ""},
}

// tick is how a controller stands to a clause, and writes the run in which it breaks it.
func (p *clausePages) tick(s *conform.Sheet, row *conform.Row) (page.Entry, error) {
	look := looks[row.State]
	e := page.Entry{Text: look[0], As: look[1], More: row.Why, Page: sheetPage(s) + "#" + row.ID}
	if row.Breach == nil || row.Breach.Page == nil {
		return e, nil
	}
	e.More = row.Breach.World + ": " + row.Breach.Text
	text, err := page.Counterexample(row.Breach.Page, nil).HTML()
	if err != nil {
		e.More += " (" + err.Error() + ")"
		return e, nil
	}
	e.Page = runPage(s, row)
	return e, p.write(e.Page, text)
}

// runPage is the name of the page of the run in which a controller breaks a clause.
func runPage(s *conform.Sheet, row *conform.Row) string { return slug(s.String() + "-" + row.ID) }

// sheet writes the page of one controller.
func (p *clausePages) sheet(s *conform.Sheet, ticks []page.Entry) error {
	var rows []page.GridRow
	for i, row := range s.Rows {
		e := ticks[i]
		if strings.HasPrefix(e.Page, sheetPage(s)+"#") {
			e.Page = ""
		}
		found := row.Why
		if row.Asked > 0 {
			found = fmt.Sprintf("asked %d times in %d schedules of %d worlds", row.Asked, row.Schedules, row.Worlds)
		}
		if row.Broken > 0 {
			found += fmt.Sprintf(", broken in %d", row.Broken)
		}
		if row.Breach != nil {
			found += ": " + row.Breach.World + ": " + row.Breach.Text
		}
		rows = append(rows, page.GridRow{ID: row.ID, Head: page.Entry{Text: strings.TrimSpace(row.ID + " " + row.Law)},
			In: []page.Entry{e, {Text: found}, {Text: row.Sentence + " (" + row.Source + ")"},
				{Text: p.rests(row.ID)}}})
	}
	columns := []page.Entry{{Text: "it is"}, {Text: "because"}, {Text: "what must hold"}, {Text: "asked by"}}
	words := "How it stands to each clause, and which scenarios ask for it and mutants break it: " +
		"threelaws conformance --explain CLAUSE runs one of them."
	return p.write(sheetPage(s), page.Grid(s.String(), words, "clause", columns, rows))
}

// rests says what there is that asks for a clause.
func (p *clausePages) rests(id string) string {
	c := p.cover[id]
	if c == nil {
		return ""
	}
	var mutants []string
	for _, k := range c.Kills {
		mutants = append(mutants, k.Mutant)
	}
	return strings.Join(append(few("scenarios", c.Pins()), few("mutants", mutants)...), "; ")
}

// mostNamed is how many scenarios or mutants a cell names.
const mostNamed = 4

// few names the first of a list, and says how many more there are.
func few(what string, names []string) []string {
	switch n := len(names); {
	case n == 0:
		return nil
	case n > mostNamed:
		names = append(slices.Clone(names[:mostNamed]), fmt.Sprintf("and %d more", n-mostNamed))
	}
	return []string{what + " " + strings.Join(names, ", ")}
}

func (p *clausePages) write(name string, text []byte) error {
	return writeWhole(filepath.Join(p.dir, name), text)
}
