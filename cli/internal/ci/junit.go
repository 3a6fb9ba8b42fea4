package ci

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteJUnit writes a suite of the cases, one testcase each. There is no standard; these
// are the elements and attributes that Jenkins, GitLab and GitHub's actions read. They are
// written by hand: encoding/xml would be a five-hundredth of the command.
func WriteJUnit(w io.Writer, name string, cases []Case) error {
	var body strings.Builder
	failures, errors, skipped := 0, 0, 0
	took := time.Duration(0)
	for i := range cases {
		c := &cases[i]
		took += c.Took
		switch c.problem() {
		case "failure":
			failures++
		case "error":
			errors++
		case "skipped":
			skipped++
		}
		c.testcase(&body)
	}
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="%d" time="%s"`, len(cases), failures, errors,
		skipped, seconds(took))
	_, err := fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n"+
		"  <testsuite name=\"%s\" %s>%s\n  </testsuite>\n</testsuites>\n", counts, escape(name, true), counts,
		body.String())
	return err
}

// problem is the element that tells a case's first problem, JUnit has one for each, or that it
// was skipped; "" where it passed.
func (c *Case) problem() string {
	switch {
	case len(c.Problems) == 0 && c.Skipped != "":
		return "skipped"
	case len(c.Problems) == 0:
		return ""
	case c.Problems[0].Error:
		return "error"
	}
	return "failure"
}

func (c *Case) testcase(b *strings.Builder) {
	file := filepath.ToSlash(c.Name)
	fmt.Fprintf(b, "\n    <testcase name=\"%s\" classname=\"%s\" file=\"%s\" time=\"%s\">",
		escape(strings.TrimSuffix(path.Base(file), path.Ext(file)), true), escape(path.Dir(file), true),
		escape(file, true), seconds(c.Took))
	switch kind := c.problem(); kind {
	case "":
	case "skipped":
		fmt.Fprintf(b, "\n      <skipped message=\"%s\"></skipped>\n    ", escape(c.Skipped, true))
	default:
		first := c.Problems[0]
		message, _, _ := strings.Cut(first.Text, "\n")
		fmt.Fprintf(b, "\n      <%s message=\"%s\" type=\"%s\">%s</%s>\n    ", kind, escape(message, true),
			escape(first.Title, true), escape(c.Page, false), kind)
	}
	b.WriteString("</testcase>")
}

// escape writes text as XML has it. What XML has no letter for is shown as what no letter
// is known for.
func escape(text string, attribute bool) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\t':
			b.WriteString("&#x9;")
		case r == '\n' && attribute:
			b.WriteString("&#xA;")
		case r == '\r':
			b.WriteString("&#xD;")
		case r < ' ' && r != '\n', r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
