package audit_test

import (
	"bytes"
	"strings"
	"testing"
)

// Taking over an object without naming a version is reported if the log has the request. It is not reported if the log
// was reconstructed from a watch, which does not show preconditions.
func TestWatchedRequests(t *testing.T) {
	s := newStory()
	s.web()
	s.does("alice", "create", "ConfigMap/mine", nil)
	s.does(opOne, "patch", "Pod/p", set{"metadata.ownerReferences": s.by("ConfigMap/mine")})
	watched := bytes.ReplaceAll(s.b.Bytes(), []byte(`"apiVersion":"audit.k8s.io/v1"`),
		[]byte(`"annotations":{"threelaws.example/from":"watch"},"apiVersion":"audit.k8s.io/v1"`))
	for _, c := range []struct {
		log  []byte
		want string
	}{{s.b.Bytes(), "LAW-1b LAW-2 API-6"}, {watched, "LAW-1b LAW-2"}} {
		var got []string
		for _, b := range judgedText(t, bytes.NewReader(c.log)).Breaches {
			got = append(got, b.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("broken: %v, want %s", got, c.want)
		}
	}
}
