package upstream_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/internal/recorded/replay"
	"github.com/threelaws/threelaws/upstream"
)

const vectors = "../fakeapi/testdata/vectors"

// What of the exchanges of the random sequences with rich specs has to be right.
const (
	leastStatuses = 4280
	leastAnswers  = 4270
)

var strategies = upstream.Strategies()

func subject() *replay.Subject {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	server := fakeapi.New(fakeapi.Options{ManagedFields: true, Strategies: strategies})
	h := httpapi.New(server, func() time.Time { return now })
	h.Address, h.Version.GitCommit, h.Version.GoVersion, h.Version.Platform = "192.0.2.2:16443", "recorder", "go1.26.8",
		"linux/amd64"
	return &replay.Subject{Handler: h,
		Sleep:   func(d time.Duration) { now = now.Add(d) },
		Compact: func() { h.With(func(s *fakeapi.Server) { s.Compact(s.Version()) }) }}
}

// With kube-apiserver's own strategies the answers are kube-apiserver's.
func TestRichSequences(t *testing.T) {
	all, err := recorded.Random2(vectors)
	if err != nil {
		t.Fatal(err)
	}
	only, told := os.LookupEnv("VECTOR")
	var sum replay.Tally
	for _, v := range all {
		if told && !strings.HasPrefix(v.Name(), only) {
			continue
		}
		replay.Through(subject(), v, &sum, func(ex *recorded.Exchange, sent string, why error) {
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
	documentPart(t, "rich upstream", fmt.Sprintf(
		"```\nexchanges %d\nstatuses  %d at least\nanswers   %d at least\n```\n",
		sum.Exchanges, leastStatuses, leastAnswers))
}

// unlike are the recorded cases that are no matter of strategies and are not reproduced,
// with the server's own rules neither; fakeapi/httpapi says why.
var unlike = []string{"admission/crd-versions", "discovery/openapi-v3-index"}

// The recorded cases that the server's own rules reproduce these reproduce as well.
func TestVectors(t *testing.T) {
	all, err := recorded.Read(vectors)
	if err != nil {
		t.Fatal(err)
	}
	passed, total := 0, 0
	for _, v := range all {
		if len(v.Controllers) > 0 {
			continue
		}
		total++
		err := replay.Case(subject(), v)
		if err == nil {
			passed++
		} else if !slices.Contains(unlike, v.Name()) {
			t.Errorf("%s: %v", v.Name(), err)
		}
	}
	t.Logf("%d of %d recorded cases pass", passed, total)
}
