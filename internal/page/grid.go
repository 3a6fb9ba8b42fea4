package page

import (
	"fmt"
	"net/url"
	"strings"
)

// Entry is a cell of a grid, or the head of a row or a column.
type Entry struct {
	Text string
	More string // what it says to who points at it
	Page string // the file beside this one that it leads to, with #ID for a row in it; "" for none
	As   string // how it looks: kept, broken, expected, or nothing
}

// GridRow is a row of a grid.
type GridRow struct {
	ID   string // by which other pages lead to it; "" for none
	Head Entry
	In   []Entry // one for each column
}

// Grid is a page of rows by columns.
func Grid(title, words, corner string, columns []Entry, rows []GridRow) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<table class="grid"><thead><tr><th scope="col">%s</th>`, escape(corner))
	for _, c := range columns {
		fmt.Fprintf(&b, `<th scope="col"%s>%s</th>`, c.about(), c.html())
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range rows {
		id := ""
		if r.ID != "" {
			id = ` id="` + escape(r.ID) + `"`
		}
		fmt.Fprintf(&b, `<tr%s><th scope="row"%s>%s</th>`, id, r.Head.about(), r.Head.html())
		for _, e := range r.In {
			fmt.Fprintf(&b, `<td%s>%s</td>`, e.about(), e.html())
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	return document(indexSkeleton, filling{title: title, foot: words, data: []byte(b.String())})
}

// about are the attributes of an entry's cell.
func (e *Entry) about() (text string) {
	if e.As != "" {
		text = ` class="` + escape(e.As) + `"`
	}
	if e.More != "" {
		text += ` title="` + escape(e.More) + `"`
	}
	return text
}

func (e *Entry) html() string {
	if e.Page == "" {
		return escape(e.Text)
	}
	file, row, _ := strings.Cut(e.Page, "#")
	to := url.URL{Path: "./" + file, Fragment: row}
	return `<a href="` + escape(to.String()) + `">` + escape(e.Text) + "</a>"
}
