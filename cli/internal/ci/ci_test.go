package ci

import (
	"bytes"
	"encoding/xml"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var cases = []Case{
	{Name: "overlap/passes.txtar", Took: 1500 * time.Millisecond},
	{Name: "overlap/fights.txtar", Took: time.Second, Page: "--- FAIL\n  <1> & \"two\"\x1b\n", Problems: []Problem{
		{File: "overlap/fights.txtar", Line: 7, Title: "never-fight", Text: "100% of runs:\na, b\r\n"},
		{File: "a:b,c%.txtar", Title: "", Text: "second"},
	}},
	{Name: "bad.txtar", Problems: []Problem{{Error: true, Title: "bad file", Text: "unknown verb aply"}}},
	{Name: "web/ADOPT-1", Skipped: `does not apply: it "selects" nothing`},
}

// suites is the root of a JUnit file, as a reader of XML has it.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
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
	Skipped *problem `xml:"skipped"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// What is written is XML that says the same when it is read.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJUnit(&b, "run", cases); err != nil {
		t.Fatal(err)
	}
	var got suites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if got.Tests != 4 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 1 ||
		got.Time != "2.500" || len(got.Suites) != 1 {
		t.Errorf("counts are wrong: %+v", got)
	}
	s := got.Suites[0]
	passes, fights, bad, skipped := s.Cases[0], s.Cases[1], s.Cases[2], s.Cases[3]
	if passes.Name != "passes" || passes.Class != "overlap" || passes.Failure != nil || passes.Error != nil ||
		passes.Skipped != nil {
		t.Errorf("%+v", passes)
	}
	want := problem{Message: "100% of runs:", Type: "never-fight", Text: "--- FAIL\n  <1> & \"two\"\uFFFD\n"}
	if fights.Failure == nil || *fights.Failure != want || fights.Error != nil {
		t.Errorf("%+v", fights.Failure)
	}
	if bad.Error == nil || bad.Error.Message != "unknown verb aply" || bad.Failure != nil {
		t.Errorf("%+v", bad)
	}
	if skipped.Skipped == nil || skipped.Skipped.Message != `does not apply: it "selects" nothing` {
		t.Errorf("%+v", skipped)
	}
}

func TestAnnotate(t *testing.T) {
	var b strings.Builder
	for i := range cases {
		if err := Annotate(&b, &cases[i]); err != nil {
			t.Fatal(err)
		}
	}
	want := "::error file=overlap/fights.txtar,line=7,title=never-fight::100%25 of runs:%0Aa, b%0D%0A\n" +
		"::error file=a%3Ab%2Cc%25.txtar::second\n" +
		"::error title=bad file::unknown verb aply\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestInRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ workspace, file, want string }{
		{"", "a/b", "a/b"},
		{here, "a/b", "a/b"},
		{filepath.Dir(here), "a", filepath.Join(filepath.Base(here), "a")},
		{filepath.Join(here, "x"), "a", "a"},
	} {
		if got := InRepository(c.workspace, c.file); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.file, c.workspace, got, c.want)
		}
	}
}
