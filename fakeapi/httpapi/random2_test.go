package httpapi

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/recorded"
)

// What of the exchanges of the random sequences with rich specs has to be right:
// raise it with what is gained.
const (
	leastStatuses = 4070
	leastAnswers  = 4040
)

// A sequence goes on after a difference, which may then show again and again: one
// object that was refused wrongly is missing from every later list.
func TestRichSequences(t *testing.T) {
	all, err := recorded.Random2(vectors)
	if err != nil {
		t.Fatal(err)
	}
	var sum tallies
	only, told := os.LookupEnv("VECTOR")
	for _, v := range all {
		if !strings.HasPrefix(v.Name(), only) && !strings.HasPrefix(only, "random2:") {
			continue
		}
		replayOn(v, &sum, func(ex *recorded.Exchange, sent string, why error) {
			if told {
				t.Logf("%s %d: %v\n%s", v.Name(), ex.N, why, sent)
			}
		})
	}
	t.Logf("rich specs: of %d exchanges %d statuses (%.1f %%) and %d answers (%.1f %%) are right",
		sum.exchanges, sum.statuses, 100*float64(sum.statuses)/float64(sum.exchanges), sum.answers,
		100*float64(sum.answers)/float64(sum.exchanges))
	if told {
		return
	}
	if sum.statuses < leastStatuses || sum.answers < leastAnswers {
		t.Errorf("want at least %d statuses and %d answers", leastStatuses, leastAnswers)
	}
	// The order of maps shows in a few: what is documented is the least.
	documentedAs(t, "rich", fmt.Sprintf("```\nexchanges %d\nstatuses  %d at least\nanswers   %d at least\n```\n",
		sum.exchanges, leastStatuses, leastAnswers))
}

// tallies count exchanges, those with the right status, and those that are right wholly.
type tallies struct{ exchanges, statuses, answers int }

// replayOn plays a case to its end and tells of each answer that differs.
func replayOn(v *recorded.Case, sum *tallies,
	tell func(ex *recorded.Exchange, sent string, why error)) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), func() time.Time { return now })
	b := recorded.NewBinding()
	b.Bind("$ns", "ns-1")
	send(h, "POST", "/api/v1/namespaces", "", map[string]string{"content-type": "application/json"},
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns-1"}}`)
	for i := range v.Exchanges {
		ex := &v.Exchanges[i]
		now = now.Add(time.Duration(ex.Pause * float64(time.Second)))
		path, query, body := b.Fill(ex.Path), fillQuery(b, ex.Query), b.Fill(string(ex.Body))
		if ex.RawBody != nil {
			body = b.Fill(*ex.RawBody)
		}
		sum.exchanges++
		r := newRequest(ex.Method, path, query, ex.Headers, body)
		var why error
		if ex.Watch != nil {
			if a := h.respond(r); a.watch == nil || a.watch.log == nil {
				why = fmt.Errorf("no watch: %d", a.code)
			} else if sum.statuses++; true {
				why = compareWatch(h, v, b, ex, a)
			}
		} else {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code == ex.Response.Status {
				sum.statuses++
			}
			why = compareAnswer(b, ex, w, true)
			if why != nil {
				b.Glean(ex.Response.Body, w.Body.Bytes())
			}
		}
		if why == nil {
			sum.answers++
			continue
		}
		tell(ex, body, why)
	}
}
