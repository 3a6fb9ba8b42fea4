package httpapi

import (
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/internal/recorded/replay"
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
		why := replay.Case(subject(), v)
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
		documentPart(t, "score", "```\n"+table.String()+"```\n")
	}
}

// subject is a server that nobody has asked anything yet. Its time stands still but
// where the client waits, which decides between classes of different age: then an
// echoed $time is what the server had said.
func subject() *replay.Subject {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), func() time.Time { return now })
	// What is not a placeholder in the record, yet a fact about its server.
	h.Address, h.Version.GitCommit, h.Version.GoVersion, h.Version.Platform = "192.0.2.2:16443", "recorder", "go1.26.8",
		"linux/amd64"
	return &replay.Subject{Handler: h,
		Sleep:   func(d time.Duration) { now = now.Add(d) },
		Compact: func() { h.With(func(s *fakeapi.Server) { s.Compact(s.Version()) }) }}
}

func fillQuery(b *recorded.Binding, query map[string]any) string { return replay.Query(b, query) }

func newRequest(method, path, query string, headers map[string]string, body string) *http.Request {
	return replay.NewRequest(method, path, query, headers, body)
}

func send(h *Handler, method, path, query string, headers map[string]string, body string) (int, string) {
	return replay.Send(h, method, path, query, headers, body)
}
