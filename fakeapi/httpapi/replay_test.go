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
	"github.com/threelaws/threelaws/internal/vectors"
	"github.com/threelaws/threelaws/internal/vectors/replay"
)

const folder = "../testdata/vectors"

func readVectors(t testing.TB) []*vectors.Recording {
	all, err := vectors.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

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
		at, why := replay.Case(subject(), v)
		reason := expected(v)
		switch {
		case why == nil && reason != "":
			t.Errorf("%s passes now: remove it from pending (%s)", v.Name(), reason)
		case why != nil && reason == "":
			t.Errorf("%s: %d: %v", v.Name(), at, why)
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

// subject returns a new server. Its time advances only when the client waits, because the order of default classes
// depends on their ages. $time in a request stands for the server's time.
func subject() *replay.Server {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), func() time.Time { return now })
	// Values of the recorded server, which the recordings contain instead of placeholders.
	h.Address, h.Version.GitCommit, h.Version.GoVersion, h.Version.Platform = "192.0.2.2:16443", "recorder", "go1.26.8",
		"linux/amd64"
	return &replay.Server{Handler: h,
		Sleep:   func(d time.Duration) { now = now.Add(d) },
		Compact: func() { h.With(func(s *fakeapi.Server) { s.Compact(s.Version()) }) }}
}

func fillQuery(b *vectors.Binding, query map[string]any) string { return replay.Query(b, query) }

func newRequest(method, path, query string, headers map[string]string, body string) *http.Request {
	return replay.NewRequest(method, path, query, headers, body)
}

func send(h *Handler, method, path, query string, headers map[string]string, body string) (int, string) {
	return replay.Send(h, method, path, query, headers, body)
}

// pending holds, for cases and areas that do not pass yet, the reasons. If such a case passes, the test fails.
var pending = map[string]string{
	"discovery/openapi-v3-index": "the index names documents by a digest of the real server's own text",
}

// expected returns the reason in pending why a case need not pass, or "".
func expected(v *vectors.Recording) string {
	if why, ok := pending[v.Name()]; ok {
		return why
	}
	return pending[v.Area]
}

// needsControllers reports whether controllers were running when a case was recorded.
func needsControllers(v *vectors.Recording) bool { return len(v.Controllers) > 0 }

// The minimum numbers of equal statuses and answers in the random sequences with rich specs. Increase them when the
// server improves.
const (
	leastStatuses = 4275
	leastAnswers  = 4255
)

// A sequence continues after a difference, and later lists may show the same difference again.
func TestRichSequences(t *testing.T) {
	all, err := vectors.Random2(folder)
	if err != nil {
		t.Fatal(err)
	}
	var sum replay.Tally
	only, told := os.LookupEnv("VECTOR")
	for _, v := range all {
		if !strings.HasPrefix(v.Name(), only) && !strings.HasPrefix(only, "random2:") {
			continue
		}
		replay.Through(subject(), v, &sum, func(ex *vectors.Exchange, sent string, why error) {
			if told {
				t.Logf("%s %d: %v\n%s", v.Name(), ex.N, why, sent)
			}
		})
	}
	t.Logf("rich specs: %s", &sum)
	if told {
		return
	}
	if sum.Statuses < leastStatuses || sum.Answers < leastAnswers {
		t.Errorf("want at least %d statuses and %d answers", leastStatuses, leastAnswers)
	}
	// The order of maps affects a few cases, so the documented numbers are minimums.
	documentPart(t, "rich", fmt.Sprintf("```\nexchanges %d\nstatuses  %d at least\nanswers   %d at least\n```\n",
		sum.Exchanges, leastStatuses, leastAnswers))
}

func TestSequencesOfAllKinds(t *testing.T) {
	all, err := vectors.Random3(folder)
	if err != nil {
		t.Fatal(err)
	}
	widgets, err := vectors.Widgets(folder)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, widgets...)
	var sum replay.Tally
	only := os.Getenv("VECTOR")
	for _, v := range all {
		if !strings.HasPrefix(v.Name(), only) {
			continue
		}
		replay.Through(subject(), v, &sum, func(ex *vectors.Exchange, sent string, why error) {
			t.Errorf("%s %d: %v\n%s", v.Name(), ex.N, why, sent)
		})
	}
	t.Logf("all kinds: %s", &sum)
}

// CRDs change between the requests for their objects, and while watches are open.
func TestSequencesOfCRDs(t *testing.T) {
	all, err := vectors.CRDs(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if at, why := replay.Case(subject(), v); why != nil {
			t.Errorf("%s %d: %v", v.Name(), at, why)
		}
	}
}
