package hosted_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/upstream/hosted"
)

var update = flag.Bool("update", false, "rewrite the output of the worlds in testdata, the shrunk ones, and docs/findings.md")

const (
	page    = "../../docs/findings.md"
	longest = 16 // steps of the timeline of a finding
)

// proof is a world in which upstream's controllers are found guilty, or are not.
type proof struct {
	name  string // of its file
	what  string // what happens, in prose
	bug   string // of the collection; "" for one that is not in it
	url   string
	code  string // what does it in upstream's code
	file  *scenarios.File
	until int
	found *scenarios.Counterexample // nil where nothing was
	text  string                    // what the exploration came to
}

var line = regexp.MustCompile(`^# (bug|finding|code) (.*)`)

// proofs are the worlds in testdata, explored.
func proofs(t *testing.T) []*proof {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no worlds: ", err)
	}
	var all []*proof
	for _, at := range files {
		raw, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		f, err := scenarios.Parse(at, raw)
		if err != nil {
			t.Fatal(err)
		}
		p := &proof{name: strings.TrimSuffix(filepath.Base(at), ".txtar"), file: f}
		p.until = slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return s.Verb == "explore" })
		p.read(string(raw))
		p.explore(t)
		all = append(all, p)
	}
	return all
}

// read reads the comment on top.
func (p *proof) read(text string) {
	for l := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(l, "# ")
		if !ok {
			return
		}
		m := line.FindStringSubmatch(l)
		switch {
		case m == nil:
			p.what += rest
		case m[1] == "bug":
			p.bug, p.url, _ = strings.Cut(m[2], " ")
			p.url, _, _ = strings.Cut(p.url, " ")
		case m[1] == "code":
			p.code = strings.TrimSpace(m[2])
		}
	}
}

func (p *proof) explore(t *testing.T) {
	o, err := p.file.Steps[p.until].ExploreOptions()
	if err != nil {
		t.Fatal(err)
	}
	x, err := scenarios.Explore(t.Context(), p.file, p.until, hosted.Registry(), o)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	if p.text = x.Text(); len(x.Failures) > 0 {
		p.found = x.Failures[0]
	}
}

// shrunk is where the file is that replays what was found.
func (p *proof) shrunk() string { return filepath.Join("testdata", "shrunk", p.name+".txtar") }

// What upstream's own controllers are found guilty of is found again, in the words that
// the worlds say, as short as it was, and is replayed from its shortest form.
func TestUpstreamIsFoundGuiltyAgain(t *testing.T) {
	all := proofs(t)
	for _, p := range all {
		s := p.file.Steps[p.until]
		switch {
		case s.Expect != (p.found != nil):
			t.Errorf("%s: guilty: %t, want %t\n%s", p.name, p.found != nil, s.Expect, p.text)
			continue
		case *update:
			s.Golden = p.text
			write(t, p.file.Name, p.file.Format())
		case s.Golden != p.text:
			t.Errorf("%s: -update writes it anew:\n%s", p.name, p.text)
		}
		if p.found == nil {
			continue
		}
		if n := p.found.Page.Step(); n == 0 || n > longest {
			t.Errorf("%s: %d steps: not small", p.name, n)
		}
		if *update {
			write(t, p.shrunk(), p.found.File)
		}
		if was, err := os.ReadFile(p.shrunk()); err != nil || string(was) != string(p.found.File) {
			t.Errorf("%s: what was found is another than %s: -update writes it anew (%v)", p.name, p.shrunk(), err)
		}
		p.replay(t)
	}
	is := findingsPage(all)
	if *update {
		write(t, page, is)
	}
	if was, err := os.ReadFile(page); err != nil || string(was) != string(is) {
		t.Errorf("docs/findings.md is not what was found: -update writes it anew (%v)", err)
	}
}

// replay runs the shortest form: it breaks the same law, and says the same of it.
func (p *proof) replay(t *testing.T) {
	f, err := scenarios.Parse(p.shrunk(), p.found.File)
	if err != nil {
		t.Fatal(err)
	}
	if r := scenarios.Interpret(f, scenarios.Options{Registry: hosted.Registry()}); r.ExitCode != scenarios.ExitPass {
		t.Errorf("%s, replayed: %s: %v", p.name, r.Verdict, r.Errors)
	}
	if !strings.Contains(string(p.found.File), p.found.Law+": "+strings.Split(p.found.Text, " ")[0]) {
		t.Errorf("%s, replayed, says nothing of %s", p.name, p.found.Law)
	}
}

func write(t *testing.T, at string, text []byte) {
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
