package watch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// A server that goes away during a watch is reported, and is an error if it does not come back.
func TestReaderTellsOfSilence(t *testing.T) {
	var on *httptest.Server
	on = httptest.NewServer(&server{answer: func(_ *server, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(w, listJSON("1", "", cmJSON("a", 1)))
			return
		}
		on.Listener.Close()
		panic(http.ErrAbortHandler)
	}})
	defer on.Close()
	told := make(chan string, 9)
	_, err := readFrom(t, &rest.Config{Host: on.URL}, func(r *Reader) {
		r.Kinds, r.Note = []string{"cm"}, func(text string) {
			if !strings.Contains(text, "down.example") {
				told <- text
			}
		}
	}, func(*Cluster) bool { return len(told) > 0 })
	if err == nil || len(told) == 0 {
		t.Fatal(err, "nothing is told")
	}
	if got := <-told; got != err.Error() || !strings.HasPrefix(got, "the server does not answer: ") {
		t.Errorf("told %q, and %v", got, err)
	}
}
