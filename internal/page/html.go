package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
)

// What an HTML file is made of. The program is in parts, each of which is about one
// thing; they are one script.
var (
	//go:embed assets/page.html
	skeleton string
	//go:embed assets/page.css
	style string
	//go:embed assets/state.js
	stateScript string
	//go:embed assets/rows.js
	rowsScript string
	//go:embed assets/lanes.js
	lanesScript string
	//go:embed assets/panel.js
	panelScript string
	//go:embed assets/live.js
	liveScript string
	//go:embed assets/page.js
	pageScript string
)

// MostRecords is how many records a run may have that is shown whole: a browser still
// opens twice as many in a second.
const MostRecords = 50_000

// HTML is the page as one file, which needs no other and may load none. The error is a
// run with more than [MostRecords].
func (p *Page) HTML() ([]byte, error) {
	for _, r := range p.Runs {
		if n := len(r.Records); n > MostRecords {
			return nil, fmt.Errorf("no page is made of a run with %d records, more than %d", n, MostRecords)
		}
	}
	data, err := json.Marshal(p) // which writes <, > and & as escapes: no tag can end or begin in it
	if err != nil {
		return nil, fmt.Errorf("the page of %s: %w", p.Title, err)
	}
	return document(skeleton, filling{title: p.Title, script: scripts(), data: data,
		foot: "this file loads nothing"}), nil
}

// scripts is the program of a page, with further parts before the last, which begins.
func scripts(more ...string) string {
	parts := slices.Concat([]string{stateScript, rowsScript, lanesScript, panelScript}, more, []string{pageScript})
	return strings.Join(parts, "\n")
}

// filling is what goes into a skeleton.
type filling struct {
	title, script, foot string
	data                []byte
	connect             string // what the program may ask for, as the policy has it; "" for nothing
}

// document fills in a skeleton: each of the words in braces stands in it once, apart from the title.
func document(skeleton string, f filling) []byte {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) +
		"; script-src " + hash(f.script)
	if f.connect != "" {
		policy += "; connect-src " + f.connect
	}
	var b bytes.Buffer
	rest := skeleton
	for {
		before, after, found := strings.Cut(rest, "{{")
		b.WriteString(before)
		if !found {
			return b.Bytes()
		}
		var word string
		word, rest, _ = strings.Cut(after, "}}")
		switch word {
		case "title":
			b.WriteString(html.EscapeString(f.title))
		case "policy":
			b.WriteString(html.EscapeString(policy))
		case "style":
			b.WriteString(style)
		case "script":
			b.WriteString(f.script)
		case "data":
			b.Write(f.data)
		case "foot":
			b.WriteString(html.EscapeString(f.foot))
		default:
			panic("page: the skeleton has no " + word)
		}
	}
}

// hash names a style or a script in a policy of content.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
