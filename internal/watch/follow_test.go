package watch

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A server that goes away while it is watched is told of.
func TestReaderTellsOfSilence(t *testing.T) {
	var away atomic.Bool
	s := &server{answer: func(_ *server, w http.ResponseWriter, r *http.Request) {
		switch {
		case away.Load():
			panic(http.ErrAbortHandler)
		case r.URL.Query().Get("watch") == "":
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":"1"},"items":[%s]}`, cmJSON("a", 1))
		default:
			away.Store(true)
		}
	}}
	told := make(chan string, 9)
	_, err := read(t, s, func(r *Reader) {
		r.Kinds, r.Note = []string{"cm"}, func(text string) {
			if !strings.Contains(text, "down.example") {
				told <- text
			}
		}
	}, func(*Cluster) bool { return len(told) > 0 })
	if err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "the server does not answer: EOF" {
		t.Errorf("told %q", got)
	}
}
