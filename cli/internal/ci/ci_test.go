package ci

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var cases = []File{
	{Name: "overlap/passes.txtar", Took: 1500 * time.Millisecond},
	{Name: "overlap/fights.txtar", Took: time.Second, Page: "--- FAIL\n  <1> & \"two\"\x1b\n", Problems: []Problem{
		{File: "overlap/fights.txtar", Line: 7, Title: "never-fight", Text: "100% of runs:\na, b\r\n"},
		{File: "a:b,c%.txtar", Title: "", Text: "second"},
	}},
	{Name: "bad.txtar", Problems: []Problem{{Error: true, Title: "bad file", Text: "unknown verb aply"}}},
	{Name: "web/ADOPT-1", Skipped: `does not apply: it "selects" nothing`},
}

func TestJUnit(t *testing.T) {
	var b strings.Builder
	if err := WriteJUnit(&b, "run", cases); err != nil {
		t.Fatal(err)
	}
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" skipped="1" time="2.500">
  <testsuite name="run" tests="4" failures="1" errors="1" skipped="1" time="2.500">
    <testcase name="passes" classname="overlap" file="overlap/passes.txtar" time="1.500"></testcase>
    <testcase name="fights" classname="overlap" file="overlap/fights.txtar" time="1.000">
      <failure message="100% of runs:" type="never-fight">--- FAIL
  &lt;1&gt; &amp; &#34;two&#34;�
</failure>
    </testcase>
    <testcase name="bad" classname="." file="bad.txtar" time="0.000">
      <error message="unknown verb aply" type="bad file"></error>
    </testcase>
    <testcase name="ADOPT-1" classname="web" file="web/ADOPT-1" time="0.000">
      <skipped message="does not apply: it &#34;selects&#34; nothing"></skipped>
    </testcase>
  </testsuite>
</testsuites>
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
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
