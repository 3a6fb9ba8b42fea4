package kubectltest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

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

// TestUnserved prints what is not served with what it is answered, and fails
// for a command that is served after all.
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

// run runs one command of plain words.
func (s *session) run(command string) string {
	var out output
	s.kubectl(strings.Fields(command), &out)
	return out.String()
}

// raw sends "METHOD /path" and returns the status.
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
