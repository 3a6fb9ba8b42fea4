// Package ci formats results for continuous integration, as JUnit XML and as GitHub annotations.
package ci

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// File is the result of one test case: a scenario file, or a case or a law of "threelaws check".
type File struct {
	Name string // the path of the scenario file, or the name of the case or law
	Took time.Duration

	Problems []Problem // empty if the test case passed or was skipped
	Skipped  string    // why there is no result; "" if there is one
	Page     string    // what the command printed for the test case
}

// Problem is an error or a violation in a test case.
type Problem struct {
	Error bool   // there is no result: the file is invalid, or its runs cannot be trusted
	File  string // the path relative to the repository, as InRepository returns it; "" if there is no file
	Line  int    // counted from 1; 0 for the whole file
	Title string // the name of a law, or a short title such as "bad file"
	Text  string
}

// Annotate writes an annotation for each problem of c as a GitHub workflow command, one per line.
func Annotate(w io.Writer, c *File) error {
	for i := range c.Problems {
		if _, err := fmt.Fprintln(w, c.Problems[i].annotation()); err != nil {
			return err
		}
	}
	return nil
}

func (p *Problem) annotation() string {
	var properties []string
	add := func(name, value string) {
		if value != "" {
			properties = append(properties, name+"="+property.Replace(value))
		}
	}
	add("file", filepath.ToSlash(p.File))
	if p.File != "" && p.Line > 0 {
		add("line", strconv.Itoa(p.Line))
	}
	add("title", p.Title)
	return "::error " + strings.Join(properties, ",") + "::" + data.Replace(p.Text)
}

// data and property escape text for GitHub workflow commands. In a property, colons and commas are also escaped.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// InRepository returns a path relative to workspace. If workspace is "" or does not contain the file, InRepository
// returns the path unchanged.
func InRepository(workspace, file string) string {
	if workspace == "" {
		return file
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	in, err := filepath.Rel(workspace, whole)
	if err != nil || in == ".." || strings.HasPrefix(in, ".."+string(filepath.Separator)) {
		return file
	}
	return in
}

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

// MarshalXML writes line breaks unchanged. By default, package xml would escape them.
func (p *problem) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	start.Attr = []xml.Attr{{Name: xml.Name{Local: "message"}, Value: p.message}}
	if p.title != "" {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: "type"}, Value: p.title})
	}
	return errors.Join(e.EncodeToken(start), e.EncodeToken(xml.CharData(p.text)), e.EncodeToken(start.End()))
}

// WriteJUnit writes a JUnit XML file. The format has no standard. WriteJUnit uses the elements and attributes that
// Jenkins, GitLab and GitHub's actions read.
func WriteJUnit(w io.Writer, name string, cases []File) error {
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

// testcase returns the XML element for c. It contains only the first problem, because JUnit allows only one.
func (c *File) testcase() testcase {
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
