package cli

import (
	"encoding/xml"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// suiteXML is what is asked of a JUnit file.
type suiteXML struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Cases    []struct {
		Name    string `xml:"name,attr"`
		File    string `xml:"file,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
			Type    string `xml:"type,attr"`
			Text    string `xml:",chardata"`
		} `xml:"failure"`
		Error *struct {
			Message string `xml:"message,attr"`
		} `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	} `xml:"testsuite>testcase"`
}

func readSuite(t *testing.T, path string) *suiteXML {
	t.Helper()
	s := &suiteXML{}
	if err := xml.Unmarshal([]byte(read(t, path)), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Every file is a test case of the JUnit file, with its page where it failed.
func TestJUnit(t *testing.T) {
	work(t)
	bad := "aply x\n"
	if err := writeWhole("bad.txtar", []byte(bad)); err != nil {
		t.Fatal(err)
	}
	got := cli(t, "run", "--junit", "out.xml", "testdata", "bad.txtar")
	s := readSuite(t, "out.xml")
	if got.code != scenarios.ExitUsage || s.Tests != 5 || s.Failures != 3 || s.Errors != 1 || len(s.Cases) != 5 {
		t.Fatalf("exit %d\n%s", got.code, read(t, "out.xml"))
	}
	breaks, settles := s.Cases[0], s.Cases[3]
	if f := breaks.Failure; f == nil || f.Type != "take-ownership" || !strings.Contains(f.Text, "--- FAIL: ") {
		t.Errorf("%+v", breaks)
	}
	if settles.Name != "settles" || settles.Failure != nil || settles.Error != nil {
		t.Errorf("%+v", settles)
	}
	if e := s.Cases[4].Error; e == nil || !strings.Contains(e.Message, "unknown verb aply") {
		t.Errorf("%+v", e)
	}

	got = typed(t, "explore -n 20 --era selector --junit x.xml testdata/settles.txtar testdata/breaks.txtar")
	s = readSuite(t, "x.xml")
	if got.code != scenarios.ExitFail || s.Tests != 2 || s.Failures != 2 {
		t.Fatalf("exit %d\n%s%s%s", got.code, got.out, got.err, read(t, "x.xml"))
	}
	if f := s.Cases[0].Failure; f.Type != "take-ownership" || !strings.Contains(f.Text, "the fight: steps 6-7") {
		t.Errorf("%+v", f)
	}
	got = cli(t, "run", "--junit", "no/such/dir.xml", "testdata/settles.txtar")
	if got.code != scenarios.ExitUsage || !strings.HasPrefix(got.err, "threelaws: --junit: ") {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
}

// Annotations name file, line and law in one line each; with --json they are out
// of its way.
func TestAnnotations(t *testing.T) {
	work(t)
	annotated := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "::error ") {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
		return lines
	}
	got := annotated(cli(t, "run", "--annotations", "testdata").out)
	if len(got) != 3 || !strings.HasPrefix(got[0], "::error file=testdata/breaks.txtar,line=5,title=take-ownership::") {
		t.Fatal(strings.Join(got, "\n"))
	}
	if !strings.Contains(got[1], "title=output differs::") || !strings.Contains(got[1], "%0A") {
		t.Error(got[1])
	}
	x := typed(t, "explore --json --annotations -n 20 --era selector testdata/settles.txtar")
	got, want := annotated(x.err), "::error file=testdata/settles.txtar,title=take-ownership::"
	if len(got) != 2 || !strings.HasPrefix(got[0], want) || len(annotated(x.out)) != 0 {
		t.Errorf("%s\n%s", x.err, x.out)
	}
	if got := cli(t, "run", "testdata"); len(annotated(got.out)) != 0 {
		t.Error("there are annotations that nobody asked for")
	}
	var b strings.Builder
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Registry: builtin.Registry(), Bare: true, Out: &b, Err: &b, GitHub: true,
		Workspace: filepath.Dir(here)}
	c.Run(t.Context(), []string{"run", "testdata"})
	place := "::error file=" + filepath.Base(here) + "/testdata/breaks.txtar,line=5,"
	if got := annotated(b.String()); len(got) != 3 || !strings.HasPrefix(got[0], place) {
		t.Errorf("GitHub is told:\n%s", b.String())
	}
}
