// Package serverdiff sends the same generated sequences of requests to another server and to this module's, and
// reports the first difference, minimized:
//
//	make differential SERVER=https://127.0.0.1:6443 TOKEN=...
//
// The other server answers first. Its answers become a case in the format of fakeapi/testdata/vectors/README.md, which
// is played to this module's server. So a useful sequence is a new case. Only tests use this package.
package serverdiff

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/vectors"
	"github.com/threelaws/threelaws/internal/vectors/replay"
)

type remote struct {
	url, token string
	client     *http.Client
	settle     time.Duration // how long a change of a CRD and the last events of a watch may take
	drain      time.Duration // how long a watch may go on after a change of its CRD
}

// sequence makes requests, each based on the answers so far.
type sequence interface {
	next() *request
	note(r *request, status int, body []byte)
	base() *plan
}

type answer struct {
	status   int
	warnings []string
	body     []byte
}

func (s *remote) request(ctx context.Context, r *request) (*http.Request, error) {
	path := s.url + r.path
	if r.query != "" {
		path += "?" + r.query
	}
	req, err := http.NewRequestWithContext(ctx, r.method, path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", r.accepts())
	req.Header.Set("User-Agent", "") // servers derive the field manager from it, but cases do not contain it
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	return req, nil
}

func (s *remote) send(r *request) (*answer, error) {
	req, err := s.request(context.Background(), r)
	if err != nil {
		return nil, err
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

// record sends the requests of a sequence to a server and returns the exchanges as a case. If a request gets no answer,
// record returns the earlier exchanges and the error.
func (s *remote) record(q sequence, next func() bool) (*vectors.Recording, error) {
	p := q.base()
	n := newNotes(p.namespace, p.prefix, time.Now())
	make := &request{method: "POST", path: "/api/v1/namespaces", contentType: "application/json",
		body: fmt.Appendf(nil, `{"metadata":{"name":%q}}`, p.namespace)}
	if a, err := s.send(make); err != nil || a.status != http.StatusCreated {
		return nil, fmt.Errorf("no namespace: %v: %+v", err, a)
	}
	defer s.clean(p)
	c := &vectors.Recording{Area: "differential", Case: p.namespace, Managed: true}
	watches := map[int]*stream{}
	for next() {
		r := q.next()
		if strings.HasPrefix(r.query, "watch=true") {
			w, a, err := s.watch(r)
			if err != nil {
				return c, err
			}
			if w != nil {
				watches[len(c.Exchanges)] = w
			}
			c.Exchanges = append(c.Exchanges, n.exchange(len(c.Exchanges)+1, r, a))
			continue
		}
		a, err := s.send(r)
		if err != nil {
			return c, fmt.Errorf("not answered: %w\n%s", err, r.body)
		}
		q.note(r, a.status, a.body)
		c.Exchanges = append(c.Exchanges, n.exchange(len(c.Exchanges)+1, r, a))
		s.await(r, a.status, len(watches) > 0)
	}
	if len(watches) > 0 {
		time.Sleep(s.settle)
	}
	for _, i := range slices.Sorted(maps.Keys(watches)) {
		c.Exchanges[i].Watch = watches[i].finish(n)
	}
	return c, nil
}

func (n *notes) exchange(number int, r *request, a *answer) vectors.Exchange {
	ex := vectors.Exchange{N: number, Method: r.method, Path: n.text(r.path), Headers: map[string]string{
		"accept": r.accepts()}}
	if r.contentType != "" {
		ex.Headers["content-type"] = r.contentType
	}
	if q, err := url.ParseQuery(r.query); err == nil && len(q) > 0 {
		ex.Query = map[string]any{}
		for k := range q {
			ex.Query[k] = q.Get(k)
			if k == "resourceVersion" {
				ex.Query[k] = n.name("rv", q.Get(k))
			}
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

// clean deletes the objects that a plan has created, whatever their finalizers are.
func (s *remote) clean(p *plan) {
	for path := range p.made {
		s.send(&request{method: "DELETE", path: path})
		s.send(&request{method: "PATCH", path: path, contentType: "application/merge-patch+json",
			body: []byte(`{"metadata":{"finalizers":null}}`)})
	}
	s.send(&request{method: "DELETE", path: "/api/v1/namespaces/" + p.namespace})
}

// difference plays a case to this module's server. It returns the number of the first request whose answer differs from
// the case, and the difference. If there is none, why is nil.
func difference(c *vectors.Recording) (request int, why error) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := httpapi.New(fakeapi.New(fakeapi.Options{ManagedFields: true}), func() time.Time { return now })
	return replay.Case(&replay.Server{Handler: h}, c)
}

//go:embed testdata/known.txt
var knownFile string

// known returns the reason of a known difference, or "". It panics if the file is malformed.
func known(difference error) string {
	expression := ""
	for line := range strings.Lines(knownFile) {
		reason := strings.TrimSpace(line)
		switch {
		case reason == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			if regexp.MustCompile(expression).MatchString(difference.Error()) {
				return reason
			}
		default:
			expression = reason
		}
	}
	return ""
}

func told(c *vectors.Recording) string {
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
		if ex.Watch != nil {
			for _, e := range ex.Watch.Events {
				fmt.Fprintf(&b, "  -> %s %s\n", e.Type, e.Object)
			}
			fmt.Fprintf(&b, "  -> %s\n", ex.Watch.End)
		}
	}
	return b.String()
}

// notes holds placeholders for values that differ between servers.
type notes struct {
	names  map[string]string // placeholders, by the value that they replace
	counts map[string]int    // the number of placeholders of each form, such as "uid" and "rv"
	began  time.Time
	client bool // true while a request gets placeholders, false for an answer
}

func newNotes(namespace, prefix string, now time.Time) *notes {
	return &notes{names: map[string]string{namespace: "$ns", prefix: "$name:" + prefix[:1]}, counts: map[string]int{},
		began: now}
}

var (
	uids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	stamps  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	version = regexp.MustCompile(`^[0-9]+$`)
	old     = regexp.MustCompile(`too old resource version: \d+ \(\d+\)`)
)

func (n *notes) name(form, value string) string {
	if p := n.names[value]; p != "" {
		return p
	}
	n.counts[form]++
	n.names[value] = fmt.Sprintf("$%s:%d", form, n.counts[form])
	return n.names[value]
}

func (n *notes) text(s string) string {
	s = old.ReplaceAllLiteralString(s, "too old resource version: $rv:? ($rv:?)")
	s = uids.ReplaceAllStringFunc(s, func(uid string) string { return n.name("uid", uid) })
	s = stamps.ReplaceAllStringFunc(s, func(at string) string {
		// A time more than 12 hours away was chosen by the client, so it is kept.
		if when, err := time.Parse(time.RFC3339, at); err != nil || when.Sub(n.began).Abs() > 12*time.Hour {
			return at
		}
		return "$time"
	})
	for value, p := range n.names {
		if p == "$ns" || strings.HasPrefix(p, "$name:") {
			s = strings.ReplaceAll(s, value, p)
		}
	}
	return s
}

// value inserts placeholders into a decoded JSON value. key is the value's key. parent is the key of the object that
// contains it.
func (n *notes) value(key, parent string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["kind"] == "Table" {
			ageless(v)
		}
		out := map[string]any{}
		for k, child := range v {
			out[n.text(k)] = n.value(k, key, child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = n.value(key, parent, v[i])
		}
		return out
	case json.Number:
		if (key == "nodePort" || key == "healthCheckNodePort") && (!n.client || n.names[v.String()] != "") {
			return n.name("port", v.String())
		}
	case string:
		switch {
		case key == "resourceVersion" && parent == "metadata" && version.MatchString(v) && v != "0":
			return n.name("rv", v)
		case key == "continue" && parent == "metadata" && v != "":
			return n.name("continue", v)
		case (key == "clusterIP" || key == "clusterIPs") && v != "None" && v != "" && (!n.client || n.names[v] != ""):
			return n.name("ip", v)
		case key == "cells":
			return n.cell(v)
		}
		return n.text(v)
	}
	return v
}

// cell inserts placeholders into a table cell. It also replaces addresses and ports that have a placeholder.
func (n *notes) cell(s string) string {
	for value, p := range n.names {
		if strings.HasPrefix(p, "$ip:") && s == value {
			return p
		}
		if strings.HasPrefix(p, "$port:") {
			s = strings.ReplaceAll(s, ":"+value+"/", ":"+p+"/")
		}
	}
	return n.text(s)
}

// ageless replaces the cells of a table that contain ages.
func ageless(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	rows, _ := table["rows"].([]any)
	for i, c := range columns {
		column, _ := c.(map[string]any)
		if name := column["name"]; name != "Age" && name != "Last Seen" && name != "First Seen" {
			continue
		}
		for _, r := range rows {
			row, _ := r.(map[string]any)
			if cells, _ := row["cells"].([]any); i < len(cells) {
				if _, isText := cells[i].(string); isText {
					cells[i] = "$age"
				}
			}
		}
	}
}

// sent inserts placeholders into a request. It keeps an address or port that occurs in no earlier answer, because the
// client chose it.
func (n *notes) sent(raw []byte) json.RawMessage {
	n.client = true
	defer func() { n.client = false }()
	return n.body(raw)
}

func (n *notes) body(raw []byte) json.RawMessage {
	v, err := vectors.Decode(raw)
	if err != nil {
		v = string(raw)
	}
	vectors.SortManaged(v)
	out, err := json.Marshal(n.value("", "", v))
	if err != nil {
		return raw
	}
	return out
}
