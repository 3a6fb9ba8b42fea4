package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/recorded"
)

const vectors = "../testdata/vectors"

func readVectors(t testing.TB) []*recorded.Case {
	all, err := recorded.Read(vectors)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVectors replays every recorded case and prints the score of each area.
func TestVectors(t *testing.T) {
	passed, total, controlled := map[string]int{}, map[string]int{}, map[string]int{}
	only := os.Getenv("VECTOR")
	for _, v := range readVectors(t) {
		if only != "" && !strings.HasPrefix(v.Name(), only) {
			continue
		}
		total[v.Area]++
		if needsControllers(v) {
			controlled[v.Area]++
			continue
		}
		why := replay(v)
		reason := expected(v)
		switch {
		case why == nil && reason != "":
			t.Errorf("%s passes now: take it out of the table (%s)", v.Name(), reason)
		case why != nil && reason == "":
			t.Errorf("%s: %v", v.Name(), why)
		case why == nil:
			passed[v.Area]++
		}
	}
	var areas []string
	for area := range total {
		areas = append(areas, area)
	}
	sort.Strings(areas)
	var table strings.Builder
	for _, area := range areas {
		fmt.Fprintf(&table, "%-12s %4d of %4d", area, passed[area], total[area])
		if n := controlled[area]; n > 0 {
			fmt.Fprintf(&table, "  (%d need controllers)", n)
		}
		table.WriteByte('\n')
	}
	t.Logf("recorded cases that pass\n%s", table.String())
	if only == "" {
		documentedAs(t, "score", "```\n"+table.String()+"```\n")
	}
}

// replay plays a case against a fresh server and returns the first difference.
func replay(v *recorded.Case) error {
	// Time stands still but where the client waited, which decides between classes of
	// different age: then an echoed $time is what the server had said.
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	server := fakeapi.New(fakeapi.Options{ManagedFields: true})
	h := New(server, func() time.Time { return now })
	// What is not a placeholder in the record, yet a fact about its server.
	h.Address, h.Version.GitCommit, h.Version.GoVersion, h.Version.Platform = "192.0.2.2:16443", "recorder", "go1.26.8",
		"linux/amd64"
	b := recorded.NewBinding()
	b.Bind("$ns", "ns-1")
	for name, token := range v.ContinueToken {
		b.Tokens[name] = base64.RawURLEncoding.EncodeToString(token)
	}
	if code, body := send(h, "POST", "/api/v1/namespaces", "", map[string]string{"content-type": "application/json"},
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns-1"}}`); code != 201 {
		return fmt.Errorf("namespace: %d %s", code, body)
	}
	type opened struct {
		ex *recorded.Exchange
		a  *answer
	}
	var watches []opened
	for i := range v.Exchanges {
		ex := &v.Exchanges[i]
		now = now.Add(time.Duration(ex.Pause * float64(time.Second)))
		if ex.Method == "" {
			aside(h, ex.Aside)
			continue
		}
		path, query, body := b.Fill(ex.Path), fillQuery(b, ex.Query), b.Fill(string(ex.Body))
		var compact bytes.Buffer
		if len(body) > 0 && json.Compact(&compact, []byte(body)) == nil {
			body = compact.String()
		}
		if ex.RawBody != nil {
			body = b.Fill(*ex.RawBody)
		}
		if ex.Watch != nil {
			a := h.respond(newRequest(ex.Method, path, query, ex.Headers, body))
			if a.watch == nil {
				return fmt.Errorf("%d: no watch: %d %+v", ex.N, a.code, a.object)
			}
			watches = append(watches, opened{ex, a})
			continue
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, newRequest(ex.Method, path, query, ex.Headers, body))
		if err := compareAnswer(b, ex, w, v.Area == "random" || v.Area == "admission"); err != nil {
			return fmt.Errorf("%d: %w", ex.N, err)
		}
	}
	for _, w := range watches {
		if err := compareWatch(h, v, b, w.ex, w.a); err != nil {
			return fmt.Errorf("%d: watch: %w", w.ex.N, err)
		}
	}
	return b.Order(v.RVOrder)
}

// aside does what the record says happened outside the API. A server that
// starts writes something of its own.
func aside(h *Handler, what string) {
	switch {
	case strings.Contains(what, "compacted"):
		h.With(func(s *fakeapi.Server) { s.Compact(s.Version()) })
	case strings.Contains(what, "restarted"):
		send(h, "POST", "/api/v1/namespaces/kube-system/configmaps", "",
			map[string]string{"content-type": "application/json"},
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"start-"}}`)
	}
}

func fillQuery(b *recorded.Binding, query map[string]any) string {
	q := url.Values{}
	for k, v := range query {
		switch v := v.(type) {
		case string:
			q.Add(k, b.Fill(v))
		case []any:
			for _, one := range v {
				q.Add(k, b.Fill(fmt.Sprint(one)))
			}
		}
	}
	return q.Encode()
}

func newRequest(method, path, query string, headers map[string]string, body string) *http.Request {
	u := &url.URL{Path: path, RawQuery: query}
	r := httptest.NewRequest(method, u.String(), strings.NewReader(body))
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	return r
}

func send(h *Handler, method, path, query string, headers map[string]string, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(method, path, query, headers, body))
	return w.Code, w.Body.String()
}

// compareAnswer compares status, warnings and body. The random sequences and the cases
// of admission were recorded without warnings: silent.
func compareAnswer(b *recorded.Binding, ex *recorded.Exchange, w *httptest.ResponseRecorder, silent bool) error {
	if w.Code != ex.Response.Status {
		return fmt.Errorf("%s %s: status %d, want %d: %s", ex.Method, ex.Path, w.Code, ex.Response.Status, w.Body)
	}
	if ex.ConcurrentGroup != 0 {
		b.Learn(ex.Response.Body, w.Body.Bytes())
		return nil
	}
	if silent {
		return compareBody(b, ex, w)
	}
	var got []string
	for _, text := range w.Header().Values("Warning") {
		got = append(got, unquoteWarning(text))
	}
	if len(got) != len(ex.Response.Warnings) {
		return fmt.Errorf("%s %s: warnings %q, want %q", ex.Method, ex.Path, got, ex.Response.Warnings)
	}
	for i := range got {
		if err := b.Match(ex.Response.Warnings[i], got[i]); err != nil {
			return fmt.Errorf("%s %s: warning: %w", ex.Method, ex.Path, err)
		}
	}
	return compareBody(b, ex, w)
}

func compareBody(b *recorded.Binding, ex *recorded.Exchange, w *httptest.ResponseRecorder) error {
	if err := b.CompareJSON(ex.Response.Body, w.Body.Bytes()); err != nil && !reordered(ex, w.Body.Bytes()) {
		return fmt.Errorf("%s %s: body%w", ex.Method, ex.Path, err)
	}
	return nil
}

// reordered says whether an object of a definition was refused for the same causes in
// another order: the real server finds them in the order of Go's maps.
func reordered(ex *recorded.Exchange, got []byte) bool {
	causes := func(body []byte) (texts []string) {
		var st struct {
			Details struct {
				Group  string
				Causes []struct{ Reason, Message, Field string }
			}
		}
		if json.Unmarshal(body, &st) != nil || !strings.HasSuffix(st.Details.Group, ".example.com") {
			return nil
		}
		for _, c := range st.Details.Causes {
			texts = append(texts, fmt.Sprint(c))
		}
		slices.Sort(texts)
		return texts
	}
	want := causes(ex.Response.Body)
	return len(want) > 1 && slices.Equal(want, causes(got))
}

func unquoteWarning(text string) string {
	text = strings.TrimPrefix(text, `299 - "`)
	text = strings.TrimSuffix(text, `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// closedEarly are cases whose client closed a watch before the last exchange.
var closedEarly = map[string]bool{"listwatch/watch-list-no-bookmarks": true, "listwatch/accept-table": true}

func compareWatch(h *Handler, v *recorded.Case, b *recorded.Binding, ex *recorded.Exchange, a *answer) error {
	events := a.watch.log.Next()
	frames := &framer{h: h, kind: a.kind, format: a.format}
	for i, want := range ex.Watch.Events {
		if i >= len(events) {
			if want.Type == "BOOKMARK" {
				continue // how many come late is a matter of time
			}
			return fmt.Errorf("event %d of %d is missing: %s %s", i, len(ex.Watch.Events), want.Type, want.Object)
		}
		frame := frameOf(frames, &events[i])
		var got struct {
			Type   string
			Object json.RawMessage
		}
		if err := json.Unmarshal(frame, &got); err != nil {
			return err
		}
		if got.Type != want.Type {
			return fmt.Errorf("event %d is %s, want %s: %s", i, got.Type, want.Type, got.Object)
		}
		if err := b.CompareJSON(want.Object, got.Object); err != nil {
			return fmt.Errorf("event %d%w", i, err)
		}
	}
	if len(events) > len(ex.Watch.Events) && !closedEarly[v.Name()] {
		return fmt.Errorf("%d events, want %d; first too many: %s", len(events), len(ex.Watch.Events),
			frameOf(frames, &events[len(ex.Watch.Events)]))
	}
	return nil
}

// frameOf is one event as a watch sends it.
func frameOf(w *framer, ev *watch.Event) []byte {
	var f frame
	if err := w.fill(&f, ev); err != nil {
		return []byte(err.Error())
	}
	return bytes.Join(f[:], nil)
}
