package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// tick is an event of a watch of ConfigMaps.
type tick struct {
	Type   string
	Object struct {
		Metadata metav1.ObjectMeta
		Code     int
	}
}

func follow(t http.RoundTripper, query string, enough func(seen int) bool) ([]tick, error) {
	req, err := http.NewRequest("GET", "http://three.laws/api/v1/configmaps?watch=1&"+query, nil)
	if err != nil {
		return nil, err
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var seen []tick
	for d := json.NewDecoder(resp.Body); !enough(len(seen)); {
		var one tick
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return seen, nil
		} else if err != nil {
			return seen, err
		}
		seen = append(seen, one)
	}
	return seen, nil
}

// mix sends the requests of one writer: creates, patches, updates, deletes, and some that are refused.
func mix(tb testing.TB, t http.RoundTripper, writer, rounds int, accepted *atomic.Int64) {
	send := func(method, path, media, body string, want int) {
		req, err := http.NewRequest(method, "http://three.laws/api/v1/namespaces/default/configmaps"+path,
			bytes.NewReader([]byte(body)))
		if err != nil {
			tb.Error(err)
			return
		}
		req.Header.Set("Content-Type", media)
		resp, err := t.RoundTrip(req)
		if err != nil {
			tb.Error(err)
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != want {
			tb.Errorf("%s %s: %d, want %d: %s", method, path, resp.StatusCode, want, text)
		}
		if want < 300 {
			accepted.Add(1)
		}
	}
	for i := range rounds {
		name := fmt.Sprintf("w%d-%d", writer, i)
		object := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},"data":{"n":"%d"}}`
		send("POST", "", media.JSON, fmt.Sprintf(object, 0), 201)
		send("PATCH", "/"+name, "application/merge-patch+json", `{"data":{"n":"1"}}`, 200)
		send("PUT", "/"+name, media.JSON, fmt.Sprintf(object, 2), 200)
		send("PUT", "/"+name, media.JSON, `{"metadata":`, 400)
		send("DELETE", "/"+name, media.JSON, "", 200)
	}
}

// Sixteen clients write. Forty watches see every change once and in order, although ten other watches are never read.
func TestWritersAndWatchers(t *testing.T) {
	const writers, watchers, rounds = 16, 50, 25
	const changes = writers * rounds * 4
	h := newHandler()
	transport := h.Transport()
	var begin string
	h.With(func(s *fakeapi.Server) { begin = strconv.FormatUint(s.Version(), 10) })
	var watching, writing sync.WaitGroup
	var accepted atomic.Int64
	for i := range watchers {
		if i%5 == 0 { // this watch is never read
			req, _ := http.NewRequest("GET", "http://three.laws/api/v1/configmaps?watch=1&resourceVersion="+begin, nil)
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			continue
		}
		watching.Go(func() {
			seen, err := follow(transport, "resourceVersion="+begin, func(n int) bool { return n == changes })
			if err != nil {
				t.Error(err)
			}
			inOrder(t, seen, changes)
		})
	}
	for i := range writers {
		writing.Go(func() { mix(t, transport, i, rounds, &accepted) })
	}
	writing.Wait()
	watching.Wait()
	if n := accepted.Load(); n != changes {
		t.Errorf("%d writes were accepted, want %d", n, changes)
	}
}

func inOrder(t *testing.T, seen []tick, want int) {
	if len(seen) != want {
		t.Errorf("%d events, want %d", len(seen), want)
	}
	last := uint64(0)
	for _, e := range seen {
		v, err := strconv.ParseUint(e.Object.Metadata.ResourceVersion, 10, 64)
		if err != nil || v <= last {
			t.Errorf("%s %s has resourceVersion %q after %d", e.Type, e.Object.Metadata.Name, e.Object.Metadata.ResourceVersion,
				last)
			return
		}
		last = v
	}
}

// A watch that falls too far behind gets 410 and ends. The log does not grow.
func TestSlowWatcherExpires(t *testing.T) {
	h := newHandler()
	h.History = 100
	transport := h.Transport()
	req, _ := http.NewRequest("GET", "http://three.laws/api/v1/configmaps?watch=1&resourceVersion=1", nil)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var accepted atomic.Int64
	mix(t, transport, 0, 100, &accepted)
	h.With(func(s *fakeapi.Server) {
		if past, err := s.Since(s.KindNamed("configmaps"), h.kept); err != nil || len(past) > 300 {
			t.Errorf("%d changes are kept: %v", len(past), err)
		}
	})
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var e tick
	if err := json.Unmarshal(text, &e); err != nil || e.Type != "ERROR" || e.Object.Code != http.StatusGone {
		t.Errorf("a slow watcher is sent %s (%v), want one ERROR with 410", text, err)
	}
}

// If a client does not read its connection, the server closes the connection, and the watch ends.
func TestDeafConnectionIsClosed(t *testing.T) {
	h := newHandler()
	h.patience = 50 * time.Millisecond
	server := httptest.NewServer(h)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 512<<10)
	for i := range 40 { // more than the buffers of a connection hold
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m%d"},"data":{"x":"%s"}}`, i,
			big)
		code, text := send(h, "POST", "/api/v1/namespaces/default/configmaps", "",
			map[string]string{"Content-Type": media.JSON}, body)
		if code != 201 {
			t.Fatal(code, text)
		}
	}
	server.Config.SetKeepAlivesEnabled(false)
	gone := make(chan struct{})
	server.Config.RegisterOnShutdown(func() { close(gone) })
	if err := server.Config.Shutdown(t.Context()); err != nil { // waits for the end of the watch
		t.Error(err)
	}
	<-gone
}

// A watch ends at its timeout, when its client disconnects, and when the server is closed.
func TestWatchEnds(t *testing.T) {
	h := newHandler()
	never := func(int) bool { return false }
	began := time.Now()
	if _, err := follow(h.Transport(), "timeoutSeconds=1", never); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < time.Second || took > 5*time.Second {
		t.Errorf("a watch of one second took %v", took)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		if _, err := follow(h.Transport(), "", never); err != nil {
			t.Error(err)
		}
	})
	h.Close()
	ended.Wait()
}

// Under a quota of 100, sixteen concurrent clients can create exactly 100 objects.
func TestQuotaHoldsAgainstManyClients(t *testing.T) {
	const clients, most = 16, 100
	for _, managed := range []bool{false, true} {
		h := New(fakeapi.New(fakeapi.Options{ManagedFields: managed}), func() time.Time { return time.Unix(1e9, 0) })
		to := map[string]string{"content-type": "application/json"}
		const quotas = "/api/v1/namespaces/default/resourcequotas"
		send(h, "POST", quotas, "", to,
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"configmaps":"100"}}}`)
		code, body := send(h, "PATCH", quotas+"/q/status", "", map[string]string{
			"content-type": "application/merge-patch+json"},
			`{"status":{"hard":{"configmaps":"100"},"used":{"configmaps":"0"}}}`)
		if code != http.StatusOK {
			t.Fatal(body)
		}
		var made, refused atomic.Int32
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				for i := range most {
					code, body := send(h, "POST", "/api/v1/namespaces/default/configmaps", "", to, fmt.Sprintf(
						`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d-%d"}}`, c, i))
					switch code {
					case http.StatusCreated:
						made.Add(1)
					case http.StatusForbidden:
						refused.Add(1)
					default:
						t.Errorf("%d %s", code, body)
					}
				}
			})
		}
		all.Wait()
		if made.Load() != most || refused.Load() != clients*most-most {
			t.Errorf("%d creates succeeded and %d were refused, of %d", made.Load(), refused.Load(), clients*most)
		}
		stored := 0
		h.With(func(s *fakeapi.Server) { stored = s.Len(s.KindNamed("configmap")) })
		if stored != most {
			t.Errorf("%d are stored", stored)
		}
	}
}
