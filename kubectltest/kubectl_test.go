package kubectltest

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pmezard/go-difflib/difflib"
	"golang.org/x/tools/txtar"
)

const patience = 5 * time.Minute

var update bool

func init() {
	flag.BoolVar(&update, "update", false, "rewrite the output in testdata/*.txtar")
}

func TestKubectl(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no sessions in testdata", err)
	}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			testSession(t, filepath.Join(home, path))
		})
	}
}

func testSession(t *testing.T, path string) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sc := parseScript(a)
	dir := t.TempDir()
	if err := sc.extract(dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	useTools(t)
	synctest.Test(t, func(t *testing.T) { runScript(t, sc) })
	if update {
		if err := os.WriteFile(path, sc.format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func runScript(t *testing.T, sc *script) {
	s := newSession(t)
	for i := range sc.steps {
		st := &sc.steps[i]
		began := time.Now()
		got, err := s.do(st.command)
		if took := time.Since(began); took > patience {
			t.Errorf("line %d: %s: took %v", st.line, st.command, took)
		}
		if err != nil {
			t.Fatalf("line %d: %s: %v", st.line, st.command, err)
		}
		text := golden(got)
		switch {
		case !st.printed && text != "(none)\n" && strings.HasPrefix(st.command, "kubectl "):
			st.printed = update
			if !update {
				t.Errorf("line %d: %s: printed, with no ---- beneath:\n%s", st.line, st.command, text)
			}
		case st.printed && text != st.want && !update:
			t.Errorf("line %d: %s\n%s", st.line, st.command, unified("expected", "printed", st.want, text))
		}
		st.want = text
	}
	for _, r := range s.transport.refused {
		t.Errorf("not modelled: %s: its command belongs in the table of TestUnserved", r)
	}
	if len(s.jobs) > 0 {
		t.Errorf("%d commands in the background are never waited for", len(s.jobs))
	}
}

func unified(a, b, x, y string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(x), B: difflib.SplitLines(y), FromFile: a, ToFile: b, Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// unserved are the commands that the server is known not to serve, and why.
// A command that has come to work is to be moved to a session.
//
// Some open a connection of their own, past the transport. They are not run;
// the request that they begin with is sent instead.
var unserved = []struct{ command, request, why string }{
	{"logs p", "", "no containers run, so there are no logs"},
	{"exec p -- true", "POST /api/v1/namespaces/default/pods/p/exec?command=true", "no containers run"},
	{"attach p", "POST /api/v1/namespaces/default/pods/p/attach", "no containers run"},
	{"cp p:/etc/hosts hosts", "POST /api/v1/namespaces/default/pods/p/exec?command=tar", "no containers run"},
	{"port-forward p 8080:80", "POST /api/v1/namespaces/default/pods/p/portforward", "no containers run"},
	{"proxy", "GET /api/v1/namespaces/default/pods/p/proxy/",
		"nothing listens in a pod; kubectl proxy to the API itself is a server of its own and not run here"},
	{"top pod", "", "there is no metrics API"},
	{"top node", "", "there is no metrics API"},
}

// accidental are answers that say nothing of the server.
var accidental = regexp.MustCompile(`unknown (flag|command)|accepts \d+ arg|panic|dial tcp`)

// TestUnserved prints what is not served with what it is answered, and fails for a command that is served after all.
func TestUnserved(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		for _, setUp := range []string{"run p --image nginx"} {
			if text := s.run(setUp); strings.Contains(text, "[exit") {
				t.Fatalf("kubectl %s: %s", setUp, text)
			}
		}
		for _, u := range unserved {
			var text string
			if u.request == "" {
				text = golden(s.run(u.command))
			} else {
				text = s.raw(u.request)
			}
			switch {
			case !strings.Contains(text, "[exit ") && u.request == "" || strings.HasPrefix(text, "2"):
				t.Errorf("kubectl %s: is served: move it to a session\n%s", u.command, text)
			case accidental.MatchString(text):
				t.Errorf("kubectl %s: fails for another reason\n%s", u.command, text)
			default:
				t.Logf("kubectl %s: %s\n  %s", u.command, u.why,
					strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
			}
		}
	})
}

func (s *session) run(command string) string {
	var out output
	s.kubectl(strings.Fields(command), &out)
	return out.String()
}

func (s *session) raw(request string) string {
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(s.ctx, method, address+path, http.NoBody)
	if err != nil {
		return err.Error()
	}
	resp, err := s.transport.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	resp.Body.Close()
	return resp.Status
}
