package page

import (
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

//go:embed assets/index.html
var indexSkeleton string

// Row is one run in an index.
type Row struct {
	Name     string
	Page     string // the file that shows it, "" where there is none
	Why      string // there is none
	Broken   []Cell
	Expected bool // what it broke was to be broken
}

// Cell is a law that a run broke.
type Cell struct {
	Law, Sentence string
	Race          bool // lost to a race
}

// Index is the page of many runs: a row for each, a column for each law that one of
// them breaks, and in a cell the way to the run that breaks it.
func Index(title string, rows []Row) []byte {
	sentence := map[string]string{}
	var laws []string
	for _, r := range rows {
		for _, c := range r.Broken {
			if _, ok := sentence[c.Law]; !ok {
				laws = append(laws, c.Law)
			}
			sentence[c.Law] = c.Sentence
		}
	}
	slices.Sort(laws)
	var b strings.Builder
	b.WriteString(`<table class="grid"><thead><tr><th scope="col">run</th>`)
	for _, l := range laws {
		fmt.Fprintf(&b, `<th scope="col" title="%s">%s</th>`, escape(sentence[l]), escape(l))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range rows {
		b.WriteString("<tr><th scope=\"row\">" + r.link(r.Name) + "</th>")
		for _, l := range laws {
			b.WriteString(r.cell(l))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	return document(indexSkeleton, filling{title: title, data: []byte(b.String()),
		foot: "Every run has a page of its own. A law has a column where some run breaks it."})
}

// link leads to the run's page; where there is none it says why.
func (r *Row) link(words string) string {
	if r.Page == "" {
		return escape(words) + " (" + escape(r.Why) + ")"
	}
	to := url.URL{Path: "./" + r.Page} // whatever its name begins with, a file beside this one
	return `<a href="` + escape(to.String()) + `">` + escape(words) + "</a>"
}

// cell says what became of a law in the run.
func (r *Row) cell(law string) string {
	i := slices.IndexFunc(r.Broken, func(c Cell) bool { return c.Law == law })
	switch {
	case i < 0:
		return "<td></td>"
	case r.Broken[i].Race:
		return `<td class="expected">` + r.link("a race was lost") + "</td>"
	case r.Expected:
		return `<td class="expected">` + r.link("broken, as expected") + "</td>"
	}
	return `<td class="broken">` + r.link("broken") + "</td>"
}
