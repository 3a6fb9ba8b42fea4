package project

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// world is a file in testdata: objects, controllers, user actions, and the finding.
type world struct {
	name  string // the file's name without .txtar
	what  string // description of the finding
	known string // the report to the project's developers; "" for none
	code  string // the cause in the project's code
	file  *scenarios.File
	until int // index of the step that explores
	x     *scenarios.Exploration
	small *render.Page // the replay of the shortest schedule; nil without a violation
	law   string       // the violated law
}

var remark = regexp.MustCompile(`^# (known|code) (.*)`)

var hash = regexp.MustCompile(`(?m)^hash\n----\n[0-9a-f]+\n\n`)

// released is the line that includes the CRDs of a release. In a shrunk file it replaces the copy of the CRDs.
const released = "define released\n"

func (s *Project) worlds(t *testing.T) []*world {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no worlds in testdata: ", err)
	}
	var all []*world
	for _, at := range files {
		raw, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{name: strings.TrimSuffix(filepath.Base(at), ".txtar"), file: s.parse(t, at, string(raw))}
		w.until = slices.IndexFunc(w.file.Steps, func(s *scenarios.Step) bool { return s.Verb == "explore" })
		if w.until < 0 {
			t.Fatalf("%s: no step explores", at)
		}
		w.read(string(raw))
		all = append(all, w)
	}
	return all
}

// parse reads a world and adds the CRDs of the release.
func (s *Project) parse(t *testing.T, name, text string) *scenarios.File {
	f, err := scenarios.Parse(name, []byte(strings.Replace(text, released, "define "+s.definitions(t)+"\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (w *world) violates() bool { return w.file.Steps[w.until].Expect }

// read reads the comment at the top of the file.
func (w *world) read(text string) {
	for l := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(l, "# ")
		if !ok {
			return
		}
		m := remark.FindStringSubmatch(l)
		switch {
		case m == nil:
			w.what += rest
		case m[1] == "known":
			w.known = strings.TrimSpace(m[2])
		default:
			w.code = strings.TrimSpace(m[2])
		}
	}
}

// shrunk returns the path of the file that replays the finding.
func (w *world) shrunk() string { return filepath.Join("testdata", "shrunk", w.name+".txtar") }

// without returns a file's text without the CRDs that parse added. If s.Timed is set, it also removes the run's hash.
func (s *Project) without(t *testing.T, text string) string {
	at := s.definitions(t)
	text = strings.Replace(text, "define "+at+"\n", released, 1)
	var b strings.Builder
	theirs := false
	for l := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(l, "-- "); ok && strings.HasSuffix(l, " --\n") {
			theirs = strings.HasPrefix(name, at)
		}
		if !theirs {
			b.WriteString(l)
		}
	}
	if s.Timed {
		return hash.ReplaceAllString(b.String(), "")
	}
	return b.String()
}
