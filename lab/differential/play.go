package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/internal/recorded/replay"
)

// remote is a server that is asked over the network.
type remote struct {
	url, token string
	client     *http.Client
}

// answer is what a server says to a request.
type answer struct {
	status   int
	warnings []string
	body     []byte
}

func (s *remote) send(r *request) (*answer, error) {
	path := s.url + r.path
	if r.query != "" {
		path += "?" + r.query
	}
	req, err := http.NewRequest(r.method, path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", r.accepts())
	req.Header.Set("User-Agent", "") // it would name the field manager, and cases are played without
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode}
	for _, text := range resp.Header.Values("Warning") {
		a.warnings = append(a.warnings, replay.Unquoted(text))
	}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

func (r *request) accepts() string {
	if r.accept == "" {
		return "application/json"
	}
	return r.accept
}

// record plays n requests of a plan to a server and returns the exchanges as a case. When a request
// is not answered, it returns those before it and the error.
func (s *remote) record(p *plan, next func() bool) (*recorded.Case, error) {
	n := newNotes(p.namespace, p.prefix, time.Now())
	make := &request{method: "POST", path: "/api/v1/namespaces", contentType: "application/json",
		body: fmt.Appendf(nil, `{"metadata":{"name":%q}}`, p.namespace)}
	if a, err := s.send(make); err != nil || a.status != http.StatusCreated {
		return nil, fmt.Errorf("no namespace: %v: %+v", err, a)
	}
	defer s.clean(p)
	c := &recorded.Case{Area: "differential", Case: p.namespace, Managed: true}
	for next() {
		r := p.next()
		a, err := s.send(r)
		if err != nil {
			return c, fmt.Errorf("not answered: %w\n%s", err, r.body)
		}
		p.note(r, a.status, a.body)
		c.Exchanges = append(c.Exchanges, n.exchange(len(c.Exchanges)+1, r, a))
	}
	return c, nil
}

func (n *notes) exchange(number int, r *request, a *answer) recorded.Exchange {
	ex := recorded.Exchange{N: number, Method: r.method, Path: n.text(r.path), Headers: map[string]string{
		"accept": r.accepts()}}
	if r.contentType != "" {
		ex.Headers["content-type"] = r.contentType
	}
	if q, err := url.ParseQuery(r.query); err == nil && len(q) > 0 {
		ex.Query = map[string]any{}
		for k := range q {
			ex.Query[k] = q.Get(k)
		}
	}
	if len(r.body) > 0 {
		ex.Body = n.sent(r.body)
	}
	ex.Response.Status, ex.Response.Body = a.status, n.body(a.body)
	for _, text := range a.warnings {
		ex.Response.Warnings = append(ex.Response.Warnings, n.text(text))
	}
	return ex
}

// clean deletes what a plan has made, whatever holds it.
func (s *remote) clean(p *plan) {
	for path := range p.made {
		s.send(&request{method: "DELETE", path: path})
		s.send(&request{method: "PATCH", path: path, contentType: "application/merge-patch+json",
			body: []byte(`{"metadata":{"finalizers":null}}`)})
	}
	s.send(&request{method: "DELETE", path: "/api/v1/namespaces/" + p.namespace})
}

// difference plays a case to this module's server, and says in which request it answers
// otherwise first, and how; nil when it answers alike.
func difference(c *recorded.Case) (request int, why error) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := httpapi.New(fakeapi.New(fakeapi.Options{ManagedFields: true}), func() time.Time { return now })
	replay.Through(&replay.Subject{Handler: h}, c, new(replay.Tally), func(ex *recorded.Exchange, _ string, err error) {
		if why == nil {
			request, why = ex.N, err
		}
	})
	return request, why
}

// told is a case as whoever reads the difference wants to see it.
func told(c *recorded.Case) string {
	var b bytes.Buffer
	for i := range c.Exchanges {
		ex := &c.Exchanges[i]
		query, _ := json.Marshal(ex.Query)
		if ex.Query == nil {
			query = nil
		}
		fmt.Fprintf(&b, "%d %s %s %s %s\n  %s\n  -> %d %s\n", ex.N, ex.Method, ex.Path, query,
			ex.Headers["content-type"],
			ex.Body, ex.Response.Status, ex.Response.Body)
	}
	return b.String()
}
