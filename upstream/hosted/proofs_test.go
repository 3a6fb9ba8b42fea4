package hosted_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/kubernetes"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/upstream/hosted"
)

var update = flag.Bool("update", false, "explore the worlds in testdata again, and rewrite docs/evidence/findings.md")

const (
	page    = "../../docs/evidence/findings.md"
	longest = 16   // steps of the timeline of a finding
	budget  = 1000 // executions for minimizing one finding
)

// proof is a world in which upstream's controllers violate a law, or keep it.
type proof struct {
	name  string // the file's name
	what  string // what happens, in prose
	bug   string // the id of a known bug; "" if it is not known
	url   string
	code  string // the cause in upstream's code
	file  *scenarios.File
	until int          // index of the step that explores
	small *render.Page // the replay of the shortest schedule; nil without a violation
	law   string       // the violated law
}

var line = regexp.MustCompile(`^# (bug|finding|code) (.*)`)

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
		all = append(all, p)
	}
	return all
}

func (p *proof) violates() bool { return p.until < 0 || p.file.Steps[p.until].Expect }

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

func (p *proof) explore(t *testing.T, first bool) *scenarios.Exploration {
	o, err := p.file.Steps[p.until].ExploreOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.First, o.Budget, o.Workers = first, budget, 1
	if first {
		o.Budget = 1 // hardly minimize, because the minimized file exists already (see shrunk)
	}
	x, err := scenarios.Explore(t.Context(), p.file, p.until, hosted.Registry(), o)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	if violates := len(x.Failures) > 0; violates != p.violates() {
		t.Errorf("%s: violates: %t, want %t\n%s", p.name, violates, p.violates(), x.Text())
	}
	return x
}

// shrunk returns the path of the file that replays the finding.
func (p *proof) shrunk() string {
	if p.until < 0 {
		return p.file.Name
	}
	return filepath.Join("testdata", "shrunk", p.name+".txtar")
}

func (p *proof) rewrite(t *testing.T) {
	x := p.explore(t, false)
	p.file.Steps[p.until].Golden = x.Text()
	write(t, p.file.Name, p.file.Format())
	if len(x.Failures) > 0 {
		write(t, p.shrunk(), x.Failures[0].File)
	}
}

// Every known violation of upstream's controllers is found again. Its minimized file is replayed, with the same steps,
// the same law and the same text.
func TestUpstreamsViolationsReplay(t *testing.T) {
	all := proofs(t)
	for _, p := range all {
		if !strings.Contains(p.name, *only) || p.until < 0 {
			continue
		}
		switch {
		case *update:
			p.rewrite(t)
		case long():
			if is, s := p.explore(t, false).Text(), p.file.Steps[p.until]; is != s.Golden {
				t.Errorf("%s: -update rewrites it:\n%s", p.name, is)
			}
		default:
			p.explore(t, true)
		}
	}
	for _, p := range all {
		if p.violates() {
			p.replay(t)
		}
	}
	if *update {
		write(t, page, findingsPage(all))
	}
}

// replay runs the minimized file twice (see shrunk). Each run must violate the same law.
func (p *proof) replay(t *testing.T) {
	raw, err := os.ReadFile(p.shrunk())
	if err != nil {
		t.Fatalf("%v: -update writes it", err)
	}
	f, err := scenarios.Parse(p.shrunk(), raw)
	if err != nil {
		t.Fatal(err)
	}
	r := scenarios.Interpret(f, scenarios.Options{Registry: hosted.Registry(), Twice: true,
		Update: *update && p.until < 0, Inspect: func(run *scenarios.Run) {
			for _, found := range run.Failures() {
				if found.Expected() && p.small == nil {
					p.small, p.law = run.Page(&found), found.Violation.Law
				}
			}
		}})
	switch {
	case r.ExitCode != scenarios.ExitPass:
		t.Errorf("%s, replayed: %s: %v", p.name, r.Verdict, r.Errors)
	case p.small == nil:
		t.Fatalf("%s, replayed, violates no law", p.name)
	case p.until >= 0 && !strings.HasPrefix(string(raw), "# "+p.law+" is violated: "):
		t.Errorf("%s, replayed, violates %s", p.name, p.law)
	case p.small.Step() == 0 || p.small.Step() > longest:
		t.Errorf("%s: %d steps are too many", p.name, p.small.Step())
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

const pageHead = `# Findings in upstream's own code

This page is for readers who want to see what threelaws found in Kubernetes itself. The controllers of
kube-controller-manager (k8s.io/kubernetes ` + kubernetes.Version + `) run unmodified in simulated clusters, called worlds. Each controller
is built by its descriptor in kube-controller-manager. The world answers the requests of the controllers, sends them
watch events, and sets their clock. A *law* is a check of the run, for example of ownership. The laws have no special
knowledge of the bugs below. A *schedule* is one order of requests, watch events and faults. Each schedule below was
found by exploring a world, and was minimized. One command replays a schedule.

The tests of the module ` + "`upstream`" + `, which imports k8s.io/kubernetes, write this page:

` + "```sh" + `
cd upstream && go test ./hosted -run TestUpstreamsViolationsReplay -update
` + "```" + `

The command with upstream's controllers explores a world, or replays a minimized schedule:

` + "```sh" + `
cd upstream && go build ./cmd/threelaws-upstream
./threelaws-upstream run hosted/testdata/b12-deletes-what-was-released.txtar
./threelaws-upstream replay hosted/testdata/shrunk/b12-deletes-what-was-released.txtar
` + "```" + `

In the timelines, *RACES* marks a lost race: when the controller sent the request, it could not know that the request
violates the law. *VIOLATES* marks a violation that the controller could have avoided: it had seen enough, or did not
send a precondition.
`

const knownHead = `
## Found in upstream's own code

These bugs were known before: see [the track record](track-record.md). threelaws finds them again in upstream's own code.

| bug | world | violated law | steps |
|---|---|---|---|
`

func findingsPage(all []*proof) []byte {
	var b strings.Builder
	b.WriteString(pageHead + knownHead)
	for _, p := range all {
		if p.bug == "" {
			continue
		}
		broken := "none: it is fixed | "
		if p.small != nil {
			broken = fmt.Sprintf("%s | %d", p.law, p.small.Step())
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", p.bug, p.url, p.link(), broken)
	}
	for _, p := range all {
		if p.bug != "" && p.small != nil {
			p.tell(&b)
		}
	}
	b.WriteString("\n## Beyond the collection\n\nThe bugs of this section are not in the track record. As far as we know, they have not been reported.\n")
	for _, p := range all {
		if p.bug == "" {
			p.tell(&b)
		}
	}
	return []byte(b.String())
}

func (p *proof) link() string {
	return fmt.Sprintf("[%s](../../upstream/hosted/testdata/%s.txtar)", p.name, p.name)
}

// tell writes a finding in the form of a bug report.
func (p *proof) tell(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n%s\n```text\n%s```\n\n", p.name, wrapped(p.what),
		wrapped("The code is in "+codes(p.code)+"."), p.small.Text())
	if p.until >= 0 {
		fmt.Fprintf(b, "The world is in [this file](../../upstream/hosted/testdata/%s.txtar).\n", p.name)
	}
	fmt.Fprintf(b, "This command replays the schedule:\n`./threelaws-upstream replay hosted/%s`.\n", p.shrunk())
}

func wrapped(text string) string {
	var b strings.Builder
	at := 0
	for _, w := range strings.Fields(text) {
		switch {
		case at == 0:
		case at+1+len(w) > 116:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += len(w)
	}
	return b.String() + "\n"
}

// codes formats files and functions: "pkg/a.go, f (why); pkg/b.go, g".
func codes(text string) string {
	var parts []string
	for part := range strings.SplitSeq(text, "; ") {
		file, rest, _ := strings.Cut(part, ", ")
		parts = append(parts, "`"+file+"`, "+rest)
	}
	return strings.Join(parts, "; ")
}
