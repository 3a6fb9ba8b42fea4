package ci

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// counts are the attributes of a suite, and of all suites.
type counts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	counts
	Suite suite `xml:"testsuite"`
}

type suite struct {
	Name string `xml:"name,attr"`
	counts
	Cases []testcase `xml:"testcase"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr"`
	Time    string   `xml:"time,attr"`
	Skipped *problem `xml:"skipped"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
}

type problem struct{ message, title, text string }

// MarshalXML writes the text with its lines as they are: xml.Marshal escapes their ends.
func (p *problem) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	start.Attr = []xml.Attr{{Name: xml.Name{Local: "message"}, Value: p.message}}
	if p.title != "" {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: "type"}, Value: p.title})
	}
	return errors.Join(e.EncodeToken(start), e.EncodeToken(xml.CharData(p.text)), e.EncodeToken(start.End()))
}

// WriteJUnit writes a suite of the cases, one testcase each. There is no standard; these
// are the elements and attributes that Jenkins, GitLab and GitHub's actions read.
func WriteJUnit(w io.Writer, name string, cases []Case) error {
	n := counts{Tests: len(cases)}
	all := suites{Suite: suite{Name: name}}
	took := time.Duration(0)
	for i := range cases {
		c := &cases[i]
		took += c.Took
		t := c.testcase()
		switch {
		case t.Skipped != nil:
			n.Skipped++
		case t.Failure != nil:
			n.Failures++
		case t.Error != nil:
			n.Errors++
		}
		all.Suite.Cases = append(all.Suite.Cases, t)
	}
	n.Time = seconds(took)
	all.counts, all.Suite.counts = n, n
	text, err := xml.MarshalIndent(&all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// testcase is a case with its first problem, as JUnit has one for each.
func (c *Case) testcase() testcase {
	file := filepath.ToSlash(c.Name)
	t := testcase{Name: strings.TrimSuffix(path.Base(file), path.Ext(file)), Class: path.Dir(file), File: file,
		Time: seconds(c.Took)}
	if len(c.Problems) == 0 {
		if c.Skipped != "" {
			t.Skipped = &problem{message: c.Skipped}
		}
		return t
	}
	first := c.Problems[0]
	message, _, _ := strings.Cut(first.Text, "\n")
	p := &problem{message, first.Title, c.Page}
	if first.Error {
		t.Error = p
	} else {
		t.Failure = p
	}
	return t
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
