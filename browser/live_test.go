package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/internal/page/pagetest"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// served is a server with a page.
type served struct {
	url, page string
	stop      func()
	agent     string // user agent of the client that creates objects; "" is that of Go
}

// serve runs "threelaws serve --ui" until the test ends.
func serve(t testing.TB, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		c := cli.Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: w, Err: &stderr}
		done <- c.Run(ctx, append([]string{"serve", "--ui"}, args...))
		w.Close()
	}()
	s := &served{}
	s.stop = func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("serve: exit code %d\n%s", code, stderr.String())
		}
		done <- 0
	}
	t.Cleanup(s.stop)
	if _, err := fmt.Fscanf(r, "serving on %s\npage: %s\n", &s.url, &s.page); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, r)
	return s
}

// create sends the request that creates an object.
func (s *served) create(t testing.TB, path string, object any) {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.agent != "" {
		req.Header.Set("User-Agent", s.agent)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", path, text)
	}
}

// pair returns functions that create a ReplicaSet a and a ReplicationController b. Both select the same pods.
func (s *served) pair(t testing.TB) (first, second func()) {
	labels := map[string]any{"app": "web"}
	template := map[string]any{"metadata": map[string]any{"labels": labels},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}
	return func() {
			s.create(t, "/apis/apps/v1/namespaces/default/replicasets", map[string]any{"apiVersion": "apps/v1",
				"kind": "ReplicaSet", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"replicas": 1,
					"selector": map[string]any{"matchLabels": labels}, "template": template}})
		}, func() {
			s.create(t, "/api/v1/namespaces/default/replicationcontrollers", map[string]any{"apiVersion": "v1",
				"kind": "ReplicationController", "metadata": map[string]any{"name": "b"}, "spec": map[string]any{
					"replicas": 2, "selector": labels, "template": template}})
		}
}

// until waits until a JavaScript expression is true in the page.
func until(t testing.TB, b *tab, expression string) {
	t.Helper()
	eval[bool](t, b, "new Promise((done) => { const look = () => ("+expression+
		") ? done(true) : setTimeout(look, 20); look() })")
}

// newest is the step of the last record that arrived, also if the page does not show it.
const newest = "(fed.ahead || view.run).records.at(-1).s"

// A page shows each step of a server when it happens, with the owners after it and the law that it violates. If the
// last step is selected, the page moves on to new steps. Any other step stays selected, even if the server discards
// it.
func TestLivePage(t *testing.T) {
	s := serve(t, "--controllers", "replicaset@selector,replication@selector")
	b := open(t, s.page)
	until(t, b, "live.textContent === 'live' && view.run.records.length > 0")
	if v := text(t, b, "#verdict"); v != "No law is violated so far" {
		t.Errorf("before anything happened the page says %q", v)
	}
	first, second := s.pair(t)
	first()
	until(t, b, "view.rows.some((r) => says(view.run, r).startsWith('rs/a create pod/a-'))")
	until(t, b, "view.run.breaks.some((b) => b.law === 'take-ownership')")
	if v := text(t, b, "#verdict"); !strings.Contains(v, " is violated at step ") {
		t.Errorf("a law is violated, and the page says %q", v)
	}
	if tree := text(t, b, "#panel"); !strings.Contains(tree, "rs/a") || !strings.Contains(tree, "pod/a-") {
		t.Errorf("at the last step, the page shows the owners after it; the panel says\n%s", tree)
	}
	if n := eval[int](t, b, "document.querySelectorAll('svg .row.broken').length"); n == 0 {
		t.Error("the step that violates the law is not red")
	}
	second()
	until(t, b, "document.querySelector('#verdict').textContent.includes('never-fight')")
	until(t, b, "view.pick === view.rows.length - 1")
	press(t, b, "Home")
	press(t, b, "ArrowRight")
	step, after := text(t, b, "#step"), eval[int](t, b, newest)
	until(t, b, fmt.Sprintf("%s > %d", newest, after))
	if now := text(t, b, "#step"); now != step || eval[int](t, b, "view.pick") != 1 {
		t.Errorf("a page on which %q is selected moves to %q when more records arrive", step, now)
	}
	until(t, b, "fed.ahead && live.textContent.includes('End')")
	if now := text(t, b, "#step"); now != step || eval[int](t, b, "view.pick") != 1 {
		t.Errorf("a page at %q shows %q when the server has forgotten that step", step, now)
	}
	press(t, b, "End")
	until(t, b, "!fed.ahead && live.textContent === 'live' && view.pick === view.rows.length - 1")
	after = eval[int](t, b, newest)
	until(t, b, fmt.Sprintf("%s > %d && view.run.records.length > 1", newest, after))
	b.quiet(t)
	s.stop()
	until(t, b, "live.className === 'lost'")
}

// No text that is stored in the server can run as a script in its page.
func TestNothingRunsLive(t *testing.T) {
	s := serve(t)
	b := open(t, s.page)
	s.create(t, "/api/v1/namespaces/default/configmaps", map[string]any{"metadata": map[string]any{"name": "evil",
		"annotations": map[string]any{"example.com/says": pagetest.Evil}}, "data": map[string]any{"a": pagetest.Evil}})
	until(t, b, "view.rows.some((r) => says(view.run, r).endsWith('create cm/evil'))")
	eval[bool](t, b, "(view.choose(view.run.objects.findIndex((o) => o.name === 'cm/evil') + 1), true)")
	if yaml := text(t, b, "#yaml"); !strings.Contains(yaml, "</script><script>window.pwned=1") {
		t.Errorf("what is stored is not shown as it is:\n%s", yaml)
	}
	if got := eval[string](t, b, "String(window.pwned)"); got != "undefined" {
		t.Errorf("a stored text ran as a script: %s", got)
	}
	b.quiet(t)
}

// A selected step stays selected when other parts of the run are shown. The page shows violations that happen later.
// After the server has ended, the page no longer says that it is live.
func TestKeptStep(t *testing.T) {
	s := serve(t, "--controllers", "replicaset@selector,replication@selector")
	b := open(t, s.page)
	until(t, b, "live.textContent === 'live' && view.run.records.length > 0")
	first, second := s.pair(t)
	// This step comes before the fight, and its process takes no other step. The server may discard the first steps of
	// the fight before the test selects one.
	s.agent = "keeper"
	s.create(t, "/api/v1/namespaces/default/configmaps", map[string]any{"metadata": map[string]any{"name": "kept"}})
	s.agent = ""
	first()
	until(t, b, "view.rows.some((r) => says(view.run, r).startsWith('rs/a create pod/a-'))")
	eval[bool](t, b, "(to(view.rows.findIndex((r) => says(view.run, r).endsWith('create cm/kept'))), true)")
	second()
	until(t, b, "fed.ahead && live.textContent.includes('End')")
	step := text(t, b, "#step")
	choose := func(what string) {
		eval[bool](t, b, "(document.getElementById('process').value = "+what+", "+
			"document.getElementById('process').dispatchEvent(new Event('change')))")
	}
	choose("view.run.records[view.rows[view.pick].record].p")
	if n := eval[int](t, b, "view.rows.length - view.pick"); n != 1 {
		t.Fatalf("the selected step must be the last one of its process, but %d follow", n-1)
	}
	if now := text(t, b, "#step"); now != step || !eval[bool](t, b, "!!fed.ahead") {
		t.Errorf("a page with %q selected shows %q when a process is chosen", step, now)
	}
	if eval[bool](t, b, "document.getElementById('last').disabled") {
		t.Error("no button goes to the end")
	}
	now := eval[string](t, b,
		"(came({...fed.ahead, keep: {records: 0}, breaks: [{law: 'one-owner'}]}), live.textContent)")
	if !strings.Contains(now, "broke one-owner") {
		t.Errorf("a law is violated meanwhile, and the page says %q", now)
	}
	b.quiet(t)
	s.stop()
	until(t, b, "live.className === 'lost'")
	press(t, b, "End")
	if eval[bool](t, b, "!!fed.ahead") || eval[string](t, b, "live.className") != "lost" {
		t.Errorf("the server has ended, and the page says %q", text(t, b, "#live"))
	}
}
