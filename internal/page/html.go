package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

var templates = template.Must(template.ParseFS(assets, "assets/*.html"))

// asset returns an embedded file.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// MostRecords limits the records of a run that is shown whole. A browser opens twice as many in a second.
const MostRecords = 50_000

// HTML returns the page as one self-contained file. A run with more than [MostRecords] is an error.
func (p *Page) HTML() ([]byte, error) {
	for _, r := range p.Runs {
		if n := len(r.Records); n > MostRecords {
			return nil, fmt.Errorf("no page is made of a run with %d records, more than %d", n, MostRecords)
		}
	}
	data, err := json.Marshal(p) // it escapes <, > and &: no tag can begin or end in it
	if err != nil {
		return nil, fmt.Errorf("the page of %s: %w", p.Title, err)
	}
	return document("page.html", &frame{Title: p.Title, Script: scripts(), Data: template.JS(data),
		Foot: "this file loads nothing"}), nil
}

// scripts joins the parts of a page's script. Further parts go before the last, which starts the script.
func scripts(more ...string) template.JS {
	var parts []string
	for _, name := range slices.Concat([]string{"state.js", "rows.js", "lanes.js", "panel.js"}, more, []string{"page.js"}) {
		parts = append(parts, asset(name))
	}
	return template.JS(strings.Join(parts, "\n"))
}

// frame holds the values of a template.
type frame struct {
	Title, Foot string
	Style       template.CSS
	Policy      string
	Connect     string // what the program may ask for, as the policy has it; "" for nothing

	Script, Data template.JS // of a page

	Laws []Cell // the columns of an index
	Rows []indexRow
}

// document fills in a template. Its content security policy allows its own style and script only.
func document(name string, f *frame) []byte {
	f.Style = template.CSS(asset("page.css"))
	f.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(string(f.Style)) +
		"; script-src " + hash(string(f.Script))
	if f.Connect != "" {
		f.Policy += "; connect-src " + f.Connect
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, f); err != nil {
		panic(err) // the template does not fit its frame
	}
	return b.Bytes()
}

// hash formats the hash of a style or a script for a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
