package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// part is what a test reads of a part of a run.
type part struct {
	First   int
	Objects []struct{ Name string }
	Lines   []struct{ Who, Verb, Object string }
	Breaks  []struct{ Law, Text string }
}

// parts reads the feed of a server's page until a part is enough.
func (s *served) parts(t *testing.T, enough func(part) bool) {
	t.Helper()
	resp, err := http.Get(s.url + "/threelaws/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the feed is of type %q", got)
	}
	late := time.AfterFunc(20*time.Second, func() { resp.Body.Close() })
	defer late.Stop()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		text, is := strings.CutPrefix(in.Text(), "data: ")
		if !is {
			continue
		}
		var p part
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if enough(p) {
			return
		}
	}
	t.Fatal("the feed ended: ", in.Err())
}

// The page of a server is fed with what there is, what happens, and each law that is
// broken, and with what clients do where no controller runs.
func TestServePage(t *testing.T) {
	s := startServe(t, "--ui", "--controllers", "replicaset@selector")
	page := s.get(t, "/threelaws/")
	if page.code != http.StatusOK || !strings.Contains(page.body, `"feed":"/threelaws/events"`) {
		t.Fatalf("the page is answered %d\n%.500s", page.code, page.body)
	}
	s.parts(t, func(p part) bool {
		if len(p.Objects) < 5 || p.First < 5 || p.Objects[0].Name != "ns/default" {
			t.Errorf("the world begins with %d of %v", p.First, p.Objects)
		}
		return true
	})
	s.post(t, "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"a"},"spec":{"replicas":1,`+
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",`+
		`"image":"i"}]}}}}`)
	made := false
	s.parts(t, func(p part) bool {
		for _, l := range p.Lines {
			made = made || l.Who == "rs/a" && l.Verb == "create"
		}
		for _, b := range p.Breaks {
			if b.Law == "take-ownership" && b.Text == "created without a ControllerRef" {
				return made
			}
		}
		return false
	})
	if code, stderr := s.stop(); code != 0 || !strings.Contains(stderr, "VIOLATES take-ownership") {
		t.Errorf("exit code %d: %s", code, stderr)
	}

	s = startServe(t, "--ui")
	s.post(t, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	s.parts(t, func(p part) bool {
		for _, l := range p.Lines {
			if l.Who == "Go-http-client" && l.Object == "cm/a" {
				return true
			}
		}
		return false
	})
}

// Without --ui there is no page, and with it nobody reads it by another name; a page that is open does
// not keep the server from ending.
func TestServePageIsAsked(t *testing.T) {
	s := startServe(t)
	if got := s.get(t, "/threelaws/"); got.code != http.StatusNotFound {
		t.Errorf("without --ui the page is answered %d", got.code)
	}
	s = startServe(t, "--ui")
	req, err := http.NewRequest("GET", s.url+"/threelaws/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusForbidden {
		t.Error("by another name: ", resp, err)
	}
	resp.Body.Close()
	open, err := http.Get(s.url + "/threelaws/events")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Body.Close()
	began := time.Now()
	if code, stderr := s.stop(); code != 0 || time.Since(began) > 4*time.Second {
		t.Errorf("with a page open it ended after %v with code %d: %s", time.Since(began), code, stderr)
	}
	if _, err := io.Copy(io.Discard, open.Body); err != nil {
		t.Error("the page's feed is broken off: ", err)
	}
}
