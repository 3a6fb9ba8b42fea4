// Package replay sends recorded requests to a server, over HTTP without a network, and reports responses that differ.
// Only tests use the package.
package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/vectors"
)

// Server is the server to which a case is sent. It must be new, and no other case may use it.
type Server struct {
	http.Handler
	// Sleep advances the server's clock.
	Sleep func(time.Duration)
	// Compact makes the server forget all revisions except the latest.
	Compact func()
}

// Begin creates the namespace of a case, and returns a new binding for its placeholders.
func Begin(h http.Handler, v *vectors.Recording, namespace string) (*vectors.Binding, error) {
	b := vectors.NewBinding()
	b.Bind("$ns", namespace)
	b.Managed = v.Managed
	for name, token := range v.ContinueToken {
		b.Tokens[name] = base64.RawURLEncoding.EncodeToString(token)
	}
	code, body := Send(h, "POST", "/api/v1/namespaces", "", map[string]string{"content-type": "application/json"},
		fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespace))
	if code != http.StatusCreated {
		return nil, fmt.Errorf("namespace: %d %s", code, body)
	}
	return b, nil
}

// Case runs a case and returns the first difference and the number of its exchange. Case compares watches at the end of
// the case.
func Case(s *Server, v *vectors.Recording) (int, error) {
	b, err := Begin(s, v, "ns-1")
	if err != nil {
		return 0, err
	}
	type opened struct {
		ex *vectors.Exchange
		w  *watching
	}
	var watches []opened
	defer func() {
		for _, w := range watches {
			w.w.finish()
		}
	}()
	for i := range v.Exchanges {
		ex := &v.Exchanges[i]
		s.pause(ex)
		if ex.Method == "" {
			s.aside(ex.Aside)
			continue
		}
		if ex.Watch != nil {
			w := open(s, request(v, b, ex))
			if watches = append(watches, opened{ex, w}); w.code != http.StatusOK {
				return ex.N, fmt.Errorf("no watch: %d %s", w.code, w.finish())
			}
			continue
		}
		if _, err := Exchange(s, v, b, ex); err != nil {
			return ex.N, err
		}
	}
	for _, w := range watches {
		if w.ex.Watch.End == "server-closed" && w.ex.Query["timeoutSeconds"] == nil && !w.w.ends() {
			return w.ex.N, errors.New("the watch is still open")
		}
		if err := compareWatch(v, b, w.ex, w.w.finish()); err != nil {
			return w.ex.N, fmt.Errorf("watch: %w", err)
		}
	}
	return 0, b.Order(v.RVOrder)
}

// Tally counts exchanges, exchanges with the right status, and exchanges with the right response.
type Tally struct{ Exchanges, Statuses, Answers int }

// String formats the counts.
func (t *Tally) String() string {
	share := func(n int) float64 { return 100 * float64(n) / float64(max(t.Exchanges, 1)) }
	return fmt.Sprintf("of %d exchanges %d statuses (%.1f %%) and %d answers (%.1f %%) are right",
		t.Exchanges, t.Statuses, share(t.Statuses), t.Answers, share(t.Answers))
}

// Through runs a case to its end, and calls tell for each response that differs. When an exchange opens a watch,
// Through compares only the watch's initial events.
func Through(s *Server, v *vectors.Recording, sum *Tally, tell func(ex *vectors.Exchange, sent string, why error)) {
	b, err := Begin(s, v, "ns-1")
	if err != nil {
		tell(&vectors.Exchange{}, "", err)
		return
	}
	for i := range v.Exchanges {
		ex := &v.Exchanges[i]
		s.pause(ex)
		sum.Exchanges++
		if err := s.exchange(v, b, ex, sum); err != nil {
			tell(ex, sent(v, b, ex), err)
			continue
		}
		sum.Answers++
	}
}

func (s *Server) exchange(v *vectors.Recording, b *vectors.Binding, ex *vectors.Exchange, sum *Tally) error {
	if ex.Watch != nil {
		code, text := peek(s, request(v, b, ex))
		if code != http.StatusOK {
			return fmt.Errorf("no watch: %d %s", code, text)
		}
		sum.Statuses++
		return compareWatch(v, b, ex, text)
	}
	w, err := Exchange(s, v, b, ex)
	if w.Code == ex.Response.Status {
		sum.Statuses++
	}
	return err
}

// Exchange sends a recorded request to a server. The error is the difference between the response and the recorded one.
// Exchange binds placeholders also after a difference.
func Exchange(h http.Handler, v *vectors.Recording, b *vectors.Binding, ex *vectors.Exchange) (
	*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	if r := request(v, b, ex); ex.Query["watch"] == nil {
		h.ServeHTTP(w, r)
	} else { // a watch that was refused must not block
		code, text := peek(h, r)
		w.WriteHeader(code)
		w.Write(text)
	}
	// the random sequences and the cases about admission were recorded without warnings, unless Managed is set
	silent := !v.Managed && (strings.HasPrefix(v.Area, "random") || strings.HasPrefix(v.Area, "widgets") || v.Area == "admission")
	err := compareAnswer(b, ex, w, silent)
	if err != nil {
		b.Glean(ex.Response.Body, w.Body.Bytes())
	}
	return w, err
}

func (s *Server) pause(ex *vectors.Exchange) {
	if ex.Pause > 0 {
		s.Sleep(time.Duration(ex.Pause * float64(time.Second)))
	}
}

// aside performs a recorded action outside the API. After a restart it creates an object, as a starting server does.
func (s *Server) aside(what string) {
	switch {
	case strings.Contains(what, "compacted"):
		s.Compact()
	case strings.Contains(what, "restarted"):
		Send(s, "POST", "/api/v1/namespaces/kube-system/configmaps", "",
			map[string]string{"content-type": "application/json"},
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"start-"}}`)
	}
}

// sent returns the body of a recorded request, with values for its placeholders. It removes spaces, except in the area
// random2, whose client sent them. This matters where the server compares stored text, as in ControllerRevisions.
func sent(v *vectors.Recording, b *vectors.Binding, ex *vectors.Exchange) string {
	if ex.RawBody != nil {
		return b.Fill(*ex.RawBody)
	}
	body := b.Fill(ports.ReplaceAllString(string(ex.Body), "$1"))
	var compact bytes.Buffer
	if v.Area != "random2" && len(body) > 0 && json.Compact(&compact, []byte(body)) == nil {
		return compact.String()
	}
	return body
}

// ports matches placeholders for port numbers, with the quotes around them.
var ports = regexp.MustCompile(`"(\$port:[0-9]+)"`)

func request(v *vectors.Recording, b *vectors.Binding, ex *vectors.Exchange) *http.Request {
	path, query := b.Fill(ex.Path), Query(b, ex.Query)
	return NewRequest(ex.Method, path, query, ex.Headers, sent(v, b, ex))
}

// Query returns a recorded query, with values for its placeholders.
func Query(b *vectors.Binding, query map[string]any) string {
	q := url.Values{}
	for k, v := range query {
		switch v := v.(type) {
		case string:
			q.Add(k, b.Fill(v))
		case []any:
			for _, one := range v {
				q.Add(k, b.Fill(fmt.Sprint(one)))
			}
		}
	}
	return q.Encode()
}

func NewRequest(method, path, query string, headers map[string]string, body string) *http.Request {
	u := &url.URL{Path: path, RawQuery: query}
	r := httptest.NewRequest(method, u.String(), strings.NewReader(body))
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	return r
}

func Send(h http.Handler, method, path, query string, headers map[string]string, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, NewRequest(method, path, query, headers, body))
	return w.Code, w.Body.String()
}
