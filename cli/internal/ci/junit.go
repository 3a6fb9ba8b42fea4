package ci

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// suites is the root of a JUnit file. There is no standard; these are the elements
// and attributes that Jenkins, GitLab and GitHub's actions read.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr"`
	Time    string   `xml:"time,attr"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a suite of the cases, one testcase each.
func WriteJUnit(w io.Writer, name string, cases []Case) error {
	s := suite{Name: name, Tests: len(cases)}
	var took time.Duration
	for i := range cases {
		t := cases[i].testcase()
		if t.Failure != nil {
			s.Failures++
		}
		if t.Error != nil {
			s.Errors++
		}
		took += cases[i].Took
		s.Cases = append(s.Cases, t)
	}
	s.Time = seconds(took)
	root := suites{Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Time: s.Time, Suites: []suite{s}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(root); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// testcase is a case with its first problem: JUnit has one for each.
func (c *Case) testcase() testcase {
	file := filepath.ToSlash(c.Name)
	t := testcase{
		Name:  strings.TrimSuffix(path.Base(file), path.Ext(file)),
		Class: path.Dir(file), File: file, Time: seconds(c.Took),
	}
	if len(c.Problems) == 0 {
		return t
	}
	first := c.Problems[0]
	message, _, _ := strings.Cut(first.Text, "\n")
	p := &problem{Message: message, Type: first.Title, Text: c.Page}
	if first.Error {
		t.Error = p
	} else {
		t.Failure = p
	}
	return t
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
