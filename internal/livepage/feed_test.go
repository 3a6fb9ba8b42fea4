package livepage

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/page/pagetest"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// world is a world that the test changes.
type world struct {
	sync.Mutex

	all  *sim.History
	now  sim.History // what has happened so far
	laws []render.Mark
}

func (w *world) look(see func(World)) {
	w.Lock()
	defer w.Unlock()
	see(World{History: &w.now, Broken: w.laws, Standing: func() []sim.Record { return nil }})
}

// happen adds the next n records.
func (w *world) happen(n int) {
	w.Lock()
	defer w.Unlock()
	w.now.Records = append(w.now.Records, w.all.Records[len(w.now.Records):][:n]...)
}

// fed returns a feed and a server for it.
func fed(t *testing.T, records int) (*world, *Feed, *httptest.Server) {
	t.Helper()
	w := &world{all: pagetest.Long(records)}
	f := New(w.look, 0, "test")
	f.every, f.kept = time.Millisecond, records
	server := httptest.NewServer(f.Over(http.NotFoundHandler()))
	t.Cleanup(server.Close)
	t.Cleanup(f.Close)
	return w, f, server
}

// event is an event that a page receives.
type event struct {
	id      string
	Keep    struct{ Records int }
	First   int // the number of objects in the initial world
	Records []json.RawMessage
	Breaks  []struct{ Law string }
}

// stream is the stream of a page.
type stream struct {
	t  *testing.T
	in *bufio.Scanner
}

// read opens a stream after an event.
func read(t *testing.T, server *httptest.Server, after string) *stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+events, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<24)
	return &stream{t, in}
}

// next returns the next event.
func (s *stream) next() (e event) {
	s.t.Helper()
	for s.in.Scan() {
		name, text, _ := strings.Cut(s.in.Text(), ": ")
		switch name {
		case "id":
			e.id = text
		case "data":
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				s.t.Fatal(err)
			}
			return e
		}
	}
	s.t.Fatal("the stream ended: ", s.in.Err())
	return e
}

// A page receives events as they happen. A page that is opened later receives everything that is kept. A page that
// reconnects receives what it has missed, or everything if it was connected to another server.
func TestReaders(t *testing.T) {
	w, _, server := fed(t, 100)
	w.happen(10)
	early := read(t, server, "")
	first := early.next()
	if first.Keep.Records != 0 || len(first.Records) != 10 {
		t.Fatalf("the first event keeps %d and has %d records, want all ten", first.Keep.Records, len(first.Records))
	}
	w.happen(5)
	if e := early.next(); e.Keep.Records != 10 || len(e.Records) != 5 {
		t.Errorf("after five more: an event keeps %d and has %d records, want 10 and 5", e.Keep.Records, len(e.Records))
	}
	for _, c := range []struct {
		after      string
		keep, more int
	}{{"", 0, 15}, {first.id, 10, 5}, {"other-1-1", 0, 15}, {"test-2-1", 0, 15}, {"test-1-99", 0, 15},
		{"test-1--1", 0, 15}, {"test-1-x", 0, 15}, {"x", 0, 15}} {
		if e := read(t, server, c.after).next(); e.Keep.Records != c.keep || len(e.Records) != c.more {
			t.Errorf("a reader after %q keeps %d and gets %d records, want %d and %d", c.after, e.Keep.Records,
				len(e.Records), c.keep, c.more)
		}
	}
	w.Lock()
	w.laws = []render.Mark{{Record: 12, Law: "never-fight"}}
	w.Unlock()
	if e := early.next(); len(e.Breaks) != 1 || len(e.Records) != 0 {
		t.Errorf("after a violation, want an event with the violation and no record: %+v", e)
	}
}

// The run restarts if the world no longer has the next record, or if the run has become too long.
func TestRunIsBounded(t *testing.T) {
	w, f, server := fed(t, 400)
	f.kept = 50
	reader := read(t, server, "")
	restarts := 0
	for range 40 {
		w.happen(10)
		e := reader.next()
		if e.Keep.Records == 0 {
			restarts++
		}
		if n := e.Keep.Records + len(e.Records) - e.First; n > 100 {
			t.Fatalf("a reader has %d records, want at most 100", n)
		}
	}
	if restarts < 4 || restarts > 9 {
		t.Errorf("the run was restarted %d times in 400 records, want 4 to 9", restarts)
	}
}

// Requests from foreign pages are refused, with any host name. Other requests are passed to the API.
func TestForeignRequestsAreRefused(t *testing.T) {
	f := New((&world{all: pagetest.Long(1)}).look, 0, "test")
	h := f.Over(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	f.Close()
	for _, c := range []struct {
		ask, host string
		header    string
		want      int
	}{
		{"GET /threelaws/", "127.0.0.1:80", "", 200},
		{"GET /threelaws/", "localhost:80", "", 200},
		{"GET /threelaws/", "[::1]:80", "", 200},
		{"GET /threelaws/", "[::1]", "", 200},
		{"GET /threelaws", "127.0.0.1", "", 301},
		{"GET /threelaws/", "rebound.example:80", "", 403},
		{"GET /threelaws/events", "rebound.example:80", "Origin: http://rebound.example:80", 403},
		{"GET /threelaws/events", "127.0.0.1.example", "", 403},
		{"GET /threelaws/events", "127.0.0.1:80", "", 200},
		{"GET /threelaws/events", "127.0.0.1:80", "Origin: http://127.0.0.1:80", 200},
		{"GET /threelaws/events", "127.0.0.1:80", "Origin: http://127.0.0.1:81", 403},
		{"GET /threelaws/events", "127.0.0.1:80", "Origin: null", 403},
		{"GET /threelaws/events", "127.0.0.1:80", "Sec-Fetch-Site: same-origin", 200},
		{"GET /threelaws/events", "127.0.0.1:80", "Sec-Fetch-Site: cross-site", 403},
		{"GET /threelaws/events", "127.0.0.1:80", "Sec-Fetch-Site: same-site", 403},
		{"GET /threelaws/", "127.0.0.1:80", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate", 200},
		{"GET /threelaws/", "127.0.0.1:80", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors", 403},
		{"GET /threelaws/events", "127.0.0.1:80", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate", 403},
		{"POST /threelaws/", "127.0.0.1:80", "", 405},
		{"GET /threelaws/other", "127.0.0.1:80", "", 404},
		{"GET /threelawsuit", "127.0.0.1:80", "", 418},
		{"GET /api", "127.0.0.1:80", "Origin: http://elsewhere", 418},
	} {
		method, path, _ := strings.Cut(c.ask, " ")
		r := httptest.NewRequest(method, path, nil)
		r.Host = c.host
		for _, line := range strings.Split(c.header, ", ") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s at %s with %q: %d, want %d: %s", c.ask, c.host, c.header, w.Code, c.want, w.Body)
		}
		if w.Code != 418 && (w.Header().Get("X-Content-Type-Options") != "nosniff" ||
			w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin") {
			t.Errorf("%s has no header against its use by other pages: %v", c.ask, w.Header())
		}
	}
}

// reluctant is a connection with a client that does not read.
type reluctant struct {
	*httptest.ResponseRecorder

	world    *world
	deadline time.Time
	held     bool // the world was locked during a write
	late     bool // there was a write without a deadline
	writes   int
}

func (r *reluctant) SetWriteDeadline(at time.Time) error {
	r.deadline = at
	return nil
}

func (r *reluctant) Write(b []byte) (int, error) {
	r.late = r.late || r.deadline.IsZero()
	if r.world.TryLock() {
		r.world.Unlock()
	} else {
		r.held = true
	}
	if r.writes++; r.writes > 1 {
		return 0, os.ErrDeadlineExceeded
	}
	return len(b), nil
}

// A slow page does not delay the world. The server waits without the world's lock, then disconnects the page.
func TestSlowReader(t *testing.T) {
	w, f, _ := fed(t, 10)
	w.happen(10)
	r := &reluctant{ResponseRecorder: httptest.NewRecorder(), world: w}
	f.stream(r, httptest.NewRequest("GET", events, nil))
	if r.writes != 2 || r.held || r.late {
		t.Errorf("%d writes, want 2; one with the lock: %t; one without a deadline: %t", r.writes, r.held, r.late)
	}
	if f.readers != 0 {
		t.Errorf("%d readers are still counted", f.readers)
	}
}

// The number of pages is limited. A closed page does not count.
func TestReadersAreCounted(t *testing.T) {
	w, f, server := fed(t, 10)
	w.happen(1)
	ctx, leave := context.WithCancel(t.Context())
	for i := range mostReaders {
		of := t.Context()
		if i == 0 {
			of = ctx
		}
		req, _ := http.NewRequestWithContext(of, "GET", server.URL+events, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		defer resp.Body.Close()
	}
	ask := func() int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("HEAD", events, nil)
		r.Host = "127.0.0.1"
		f.Over(nil).ServeHTTP(w, r)
		return w.Code
	}
	if code := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("the response to one more page is %d", code)
	}
	leave()
	for ask() != http.StatusOK {
		if t.Context().Err() != nil {
			t.Fatal("a reader that left is still counted")
		}
	}
}

// Closing the feed ends its streams.
func TestClose(t *testing.T) {
	w, f, server := fed(t, 10)
	w.happen(1)
	r := read(t, server, "")
	r.next()
	f.Close()
	for r.in.Scan() {
	}
	if err := r.in.Err(); err != nil && err != io.EOF {
		t.Error(fmt.Errorf("the stream did not end properly: %w", err))
	}
}
