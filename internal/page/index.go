package page

import (
	"cmp"
	"net/url"
	"slices"
)

// Row is one run in an index.
type Row struct {
	Name     string
	Page     string // the file that shows it, "" where there is none
	Why      string // why there is no page
	Broken   []Cell
	Expected bool // its violations were expected
}

// Cell is a law that a run violated.
type Cell struct {
	Law, Sentence string
	Race          bool // a lost race
}

// indexRow is a row of an index for the template.
type indexRow struct {
	Head link
	In   []link // one per law
}

// link is a link to the page of a run, or says why there is none.
type link struct{ Page, Words, Why, Class string }

// Index returns the page of many runs: a row per run, a column per violated law, and in a cell the link to the run.
func Index(title string, rows []Row) []byte {
	f := &frame{Title: title,
		Foot: "Every run has a page of its own. A law has a column where some run breaks it."}
	for _, r := range rows {
		f.Laws = append(f.Laws, r.Broken...)
	}
	slices.SortStableFunc(f.Laws, func(a, b Cell) int { return cmp.Compare(a.Law, b.Law) })
	f.Laws = slices.CompactFunc(f.Laws, func(a, b Cell) bool { return a.Law == b.Law })
	for _, r := range rows {
		row := indexRow{Head: r.link("", r.Name)}
		for _, l := range f.Laws {
			row.In = append(row.In, r.cell(l.Law))
		}
		f.Rows = append(f.Rows, row)
	}
	return document("index.html", f)
}

func (r *Row) link(class, words string) link {
	l := link{Words: words, Why: r.Why, Class: class}
	if r.Page != "" {
		to := url.URL{Path: "./" + r.Page} // a file beside this one, whatever its name begins with
		l.Page = to.String()
	}
	return l
}

// cell returns the result of a law in the run.
func (r *Row) cell(law string) link {
	i := slices.IndexFunc(r.Broken, func(c Cell) bool { return c.Law == law })
	switch {
	case i < 0:
		return link{}
	case r.Broken[i].Race:
		return r.link("expected", "a race was lost")
	case r.Expected:
		return r.link("expected", "broken, as expected")
	}
	return r.link("broken", "broken")
}
