package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/vectors"
)

// compareAnswer compares status, warnings and body of a response. For concurrent requests, it compares only the status.
// If silent is set, it compares no warnings, because the case was recorded without them.
func compareAnswer(b *vectors.Binding, ex *vectors.Exchange, w *httptest.ResponseRecorder, silent bool) error {
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
		got = append(got, Unquoted(text))
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

func compareBody(b *vectors.Binding, ex *vectors.Exchange, w *httptest.ResponseRecorder) error {
	if err := b.CompareJSON(ex.Response.Body, w.Body.Bytes()); err != nil && !reordered(ex, w.Body.Bytes()) &&
		!(b.Managed && shuffled(b, ex, w.Body.Bytes())) {
		return fmt.Errorf("%s %s: body%w", ex.Method, ex.Path, err)
	}
	return nil
}

// reordered reports whether a request was refused for the same causes in another order. The real server uses the order
// of Go maps for errors of custom resources, and for conflicts with several field managers.
func reordered(ex *vectors.Exchange, got []byte) bool {
	want, have := causes(ex.Response.Body), causes(got)
	return len(want) > 1 && slices.Equal(want, have)
}

// shuffled reports whether a refusal has the recorded causes, in another order of causes of the same field. Labels,
// annotations and other maps have no order.
func shuffled(b *vectors.Binding, ex *vectors.Exchange, got []byte) bool {
	want, have := byField(b.Fill(string(ex.Response.Body))), byField(string(got))
	return len(want) > 1 && slices.Equal(want, have)
}

// byField lists the causes in a refusal. Adjacent causes of the same field are sorted.
func byField(body string) (texts []string) {
	var st metav1.Status
	if json.Unmarshal([]byte(body), &st) != nil || st.Details == nil {
		return nil
	}
	start := 0
	for i, c := range st.Details.Causes {
		if i > 0 && c.Field != st.Details.Causes[i-1].Field {
			slices.Sort(texts[start:])
			start = i
		}
		texts = append(texts, fmt.Sprint(c))
	}
	slices.Sort(texts[start:])
	return texts
}

func causes(body []byte) (texts []string) {
	var st metav1.Status
	if json.Unmarshal(body, &st) != nil || st.Details == nil {
		return nil
	}
	defined := strings.HasSuffix(st.Details.Group, ".example.com")
	for _, c := range st.Details.Causes {
		if !defined && c.Type != metav1.CauseTypeFieldManagerConflict {
			return nil
		}
		texts = append(texts, fmt.Sprint(c))
	}
	slices.Sort(texts)
	return texts
}

// Unquoted returns the text in a Warning header.
func Unquoted(text string) string {
	text = strings.TrimPrefix(text, `299 - "`)
	text = strings.TrimSuffix(text, `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// watching is an open watch. Its client reads only at the end of the case, so that timing does not matter.
type watching struct {
	code   int
	begun  chan struct{} // closed when the server has sent the header
	read   chan struct{} // closed when the client starts to read
	done   chan struct{} // closed when the server's handler has returned
	header http.Header
	text   bytes.Buffer
	cancel context.CancelFunc
}

func open(h http.Handler, r *http.Request) *watching {
	ctx, cancel := context.WithCancel(r.Context())
	w := &watching{begun: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}),
		header: http.Header{}, cancel: cancel}
	go func() {
		defer close(w.done)
		h.ServeHTTP(w, r.WithContext(ctx))
	}()
	select {
	case <-w.begun:
	case <-w.done:
	}
	return w
}

func (w *watching) finish() []byte {
	w.cancel()
	w.start()
	<-w.done
	return w.text.Bytes()
}

// ends reads the watch, and reports whether the server ends it.
func (w *watching) ends() bool {
	w.start()
	select {
	case <-w.done:
		return true
	case <-time.After(time.Second):
		return false
	}
}

func (w *watching) start() {
	select {
	case <-w.read:
	default:
		close(w.read)
	}
}

// peek returns the status code and the initial events of a watch.
func peek(h http.Handler, r *http.Request) (int, []byte) {
	w := open(h, r)
	return w.code, w.finish()
}

func (w *watching) Header() http.Header { return w.header }

func (w *watching) WriteHeader(code int) { w.code = code }

func (w *watching) Write(b []byte) (int, error) { return w.text.Write(b) }

// Flush implements http.Flusher. The first call means that the server has sent the header of the watch.
func (w *watching) Flush() {
	select {
	case <-w.begun:
	default:
		close(w.begun)
		<-w.read
	}
}

// closedEarly lists cases in which the client closed a watch before the last exchange.
var closedEarly = map[string]bool{"listwatch/watch-list-no-bookmarks": true, "listwatch/accept-table": true}

func compareWatch(v *vectors.Recording, b *vectors.Binding, ex *vectors.Exchange, text []byte) error {
	var events []vectors.Event
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var e vectors.Event
		if err := d.Decode(&e); err != nil {
			return err
		}
		events = append(events, e)
	}
	for i, want := range ex.Watch.Events {
		if i >= len(events) {
			if want.Type == "BOOKMARK" {
				continue // the number of events that arrive late depends on timing
			}
			return fmt.Errorf("event %d of %d is missing: %s %s", i, len(ex.Watch.Events), want.Type, want.Object)
		}
		got := events[i]
		if got.Type != want.Type {
			return fmt.Errorf("event %d is %s, want %s: %s", i, got.Type, want.Type, got.Object)
		}
		if err := b.CompareJSON(want.Object, got.Object); err != nil {
			return fmt.Errorf("event %d%w", i, err)
		}
	}
	if n := len(ex.Watch.Events); len(events) > n && !closedEarly[v.Name()] {
		return fmt.Errorf("%d events, want %d; first too many: %s %s", len(events), n, events[n].Type, events[n].Object)
	}
	return nil
}
