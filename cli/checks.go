package cli

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/scenarios"
)

// checks reports results to continuous integration: annotations at once, a JUnit file at the end.
type checks struct {
	junit    string // the file; "" for none
	annotate bool
	cases    []ci.Case
}

func (c *checks) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.junit, "junit", "", "write a JUnit XML file, with one test case for each file")
	fl.BoolVar(&c.annotate, "annotations", c.annotate,
		"print annotations for GitHub Actions, where they are on by themselves")
}

// add annotates the problems of a file. The annotations go to stderr if JSON is on stdout; GitHub reads both.
func (c *checks) add(a *app, one ci.Case) error {
	c.cases = append(c.cases, one)
	if !c.annotate {
		return nil
	}
	if a.json {
		return ci.Annotate(a.err, &one)
	}
	return ci.Annotate(a.out, &one)
}

func (c *checks) write(suite string) error {
	if c.junit == "" {
		return nil
	}
	var b bytes.Buffer
	err := ci.WriteJUnit(&b, suite, c.cases)
	if err == nil {
		err = writeWhole(c.junit, b.Bytes())
	}
	if err != nil {
		return usage("--junit: %v", err)
	}
	return nil
}

// place is the path of a scenario file in the repository, "" for a file that is not on disk.
func (s *shelf) place(name string) string {
	if name == stdin || !onDisk(name) {
		return ""
	}
	return ci.InRepository(s.workspace, name)
}

// problem describes an error of a file. law is "" if no law was violated.
func (s *shelf) problem(e *scenarios.Error, law string) ci.Problem {
	p := ci.Problem{File: s.place(e.File), Line: e.Line, Text: e.Text}
	if e.Verb != "" {
		p.Text = e.Verb + ": " + p.Text
	}
	if e.Diff != "" {
		p.Text += "\n" + strings.TrimRight(e.Diff, "\n")
	}
	switch {
	case e.Code == scenarios.ExitUsage:
		p.Error, p.Title = true, "bad file"
	case e.Code == scenarios.ExitNondetermine:
		p.Error, p.Title = true, "two runs differ"
	case law != "":
		p.Title = law
	case e.Code == scenarios.ExitNotSettled:
		p.Title = "does not settle"
	case e.Diff != "":
		p.Title = "output differs"
	default:
		p.Title = "not as expected"
	}
	return p
}
