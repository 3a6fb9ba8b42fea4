package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

var templates = template.Must(template.ParseFS(assets, "assets/*.html"))

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// MostRecords is the maximal number of records of a run on a page. Browsers open twice as many in a second.
const MostRecords = 50_000

// HTML returns the page as a self-contained file. It returns an error if a run has more than [MostRecords] records.
func (p *Page) HTML() ([]byte, error) {
	for _, r := range p.Runs {
		if n := len(r.Records); n > MostRecords {
			return nil, fmt.Errorf("a run with %d records gets no page: the limit is %d", n, MostRecords)
		}
	}
	data, err := json.Marshal(p) // json.Marshal escapes <, > and &, so that the data contains no tags
	if err != nil {
		return nil, fmt.Errorf("the page of %s: %w", p.Title, err)
	}
	return document("page.html", &frame{Title: p.Title, Script: scripts(), Data: template.JS(data),
		Foot: "this file loads nothing"}), nil
}

// scripts joins the parts of a page's script. The part page.js, which starts the script, comes last.
func scripts(more ...string) template.JS {
	var parts []string
	for _, name := range slices.Concat([]string{"state.js", "rows.js", "lanes.js", "panel.js"}, more, []string{"page.js"}) {
		parts = append(parts, asset(name))
	}
	return template.JS(strings.Join(parts, "\n"))
}

type frame struct {
	Title, Foot string
	Style       template.CSS
	Policy      string
	Connect     string // the connections that the content security policy allows; "" for none

	Script, Data template.JS // the script and the JSON data of a page; "" for an index

	Laws []Cell // the columns of an index
	Rows []indexRow
}

// document executes a template. The content security policy allows only the style and the script of the document.
func document(name string, f *frame) []byte {
	f.Style = template.CSS(asset("page.css"))
	f.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(string(f.Style)) +
		"; script-src " + hash(string(f.Script))
	if f.Connect != "" {
		f.Policy += "; connect-src " + f.Connect
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, f); err != nil {
		panic(err) // the template and its data do not match
	}
	return b.Bytes()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Row is one run in an index.
type Row struct {
	Name     string
	Page     string // the file with the run's page; "" if there is none
	Why      string // why there is no page
	Broken   []Cell
	Expected bool // the run's violations were expected
}

// Cell is a law that a run violated.
type Cell struct {
	Law, Sentence string
	Race          bool // the violation is a lost race
}

type indexRow struct {
	Head link
	In   []link // one link for each law
}

// link links to the page of a run, or says why there is no page.
type link struct{ Page, Words, Why, Class string }

// Index returns a page about many runs. Runs are rows, violated laws are columns, and a cell links to the run's page.
func Index(title string, rows []Row) []byte {
	f := &frame{Title: title,
		Foot: "Every run has a page of its own. A law has a column if a run violates it."}
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
		to := url.URL{Path: "./" + r.Page} // otherwise a file name with a colon would be parsed as a URL
		l.Page = to.String()
	}
	return l
}

func (r *Row) cell(law string) link {
	i := slices.IndexFunc(r.Broken, func(c Cell) bool { return c.Law == law })
	switch {
	case i < 0:
		return link{}
	case r.Broken[i].Race:
		return r.link("expected", "a race was lost")
	case r.Expected:
		return r.link("expected", "violated, as expected")
	}
	return r.link("violated", "violated")
}
