package clusterwatch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// server sends scripted responses, and records the requests.
type server struct {
	mu      sync.Mutex
	asked   []string
	watches int
	answer  func(s *server, w http.ResponseWriter, r *http.Request)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	q := r.URL.Query()
	s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+q.Get("watch")+" "+q.Get("resourceVersion")+
		q.Get("continue")))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api":
		fmt.Fprint(w, `{"versions":["v1"]}`)
	case "/api/v1":
		fmt.Fprint(w, `{"resources":[{"name":"configmaps","singularName":"configmap","kind":"ConfigMap","namespaced":true,`+
			`"verbs":["list","watch"],"shortNames":["cm"]},{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list",`+
			`"watch"]},{"name":"pods/log","kind":"Pod","verbs":["get"]},{"name":"bindings","kind":"Binding",`+
			`"verbs":["create"]},{"name":"events","kind":"Event","namespaced":true,"verbs":["list","watch"]}]}`)
	case "/apis":
		fmt.Fprint(w, `{"groups":[{"name":"apps","preferredVersion":{"groupVersion":"apps/v1","version":"v1"},`+
			`"versions":[{"groupVersion":"apps/v1","version":"v1"}]},{"name":"down.example","preferredVersion":`+
			`{"groupVersion":"down.example/v1","version":"v1"},"versions":[{"groupVersion":"down.example/v1",`+
			`"version":"v1"}]}]}`)
	case "/apis/apps/v1":
		fmt.Fprint(w, `{"resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["list","watch"]}]}`)
	case "/apis/down.example/v1":
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
	default:
		s.answer(s, w, r)
	}
}

func (s *server) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func cmJSON(name string, version int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":"t","uid":"u-%s",`+
		`"resourceVersion":"%d","creationTimestamp":"2026-11-23T10:00:00Z"}}`, name, name, version)
}

func listJSON(version, rest string, items ...string) string {
	return fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":%q,"continue":%q},`+
		`"items":[%s]}`, version, rest, strings.Join(items, ","))
}

// read runs a reader of a server until enough returns true.
func read(t *testing.T, s *server, r func(*Reader), enough func(*Cluster) bool) (notes []string, err error) {
	t.Helper()
	on := httptest.NewServer(s)
	defer on.Close()
	defer on.CloseClientConnections()
	return readFrom(t, &rest.Config{Host: on.URL}, r, enough)
}

func readFrom(t *testing.T, config *rest.Config, r func(*Reader), enough func(*Cluster) bool) (notes []string,
	err error) {
	t.Helper()
	reader, err := NewReader(config)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	reader.first = time.Millisecond
	reader.Note = func(text string) { mu.Lock(); notes = append(notes, text); mu.Unlock() }
	if r != nil {
		r(reader)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	c := NewCluster(Options{Patience: 100 * time.Millisecond, Stuck: time.Minute, Tell: func(Finding) {}})
	err = reader.Run(ctx, c, func() bool { return enough(c) })
	if err == nil && ctx.Err() != nil {
		t.Error("the cluster did not reach the expected state")
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(notes)
	return slices.Clone(notes), err
}

// A list is read page by page. A watch that breaks is resumed from the last bookmark. After "too old resource version"
// the reader lists again, and objects that are not in the list no longer exist.
func TestReaderComesBack(t *testing.T) {
	s := &server{}
	s.answer = func(s *server, w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		list := func(version, rest string, items ...string) { fmt.Fprint(w, listJSON(version, rest, items...)) }
		if q.Get("watch") == "" {
			switch {
			case s.watches > 0:
				list("50", "", cmJSON("a", 45), cmJSON("d", 46))
			case q.Get("continue") == "":
				list("10", "more", cmJSON("a", 1))
			default:
				list("10", "", cmJSON("b", 2))
			}
			return
		}
		s.watches++
		switch s.watches {
		case 1:
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}{"type":"BOOKMARK","object":{"kind":"ConfigMap",`+
				`"apiVersion":"v1","metadata":{"resourceVersion":"30"}}}`,
				cmJSON("c", 11))
		case 2:
			http.Error(w, "busy", http.StatusTooManyRequests)
		case 3:
			fmt.Fprint(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired",`+
				`"message":"too old resource version"}}`)
		default:
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	var most int
	_, err := read(t, s, func(r *Reader) { r.Kinds = []string{"cm"} }, func(c *Cluster) bool {
		most = max(most, c.Len())
		return most == 3 && c.Len() == 2 && c.byUID["u-d"] != nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const at = "/api/v1/configmaps"
	asked := slices.DeleteFunc(s.log(), func(a string) bool { return !strings.HasPrefix(a, at) })
	want := []string{at, at + "  more", at + " true 10", at + " true 30", at + " true 30", at}
	if len(asked) < len(want) || !slices.Equal(asked[:len(want)], want) {
		t.Errorf("requested %q, want %q", asked, want)
	}
}

// A kind that is forbidden or unavailable is reported once and skipped. The other kinds are watched.
func TestReaderLeavesOut(t *testing.T) {
	s := &server{answer: func(_ *server, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/pods":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,`+
				`"message":"pods is forbidden"}`)
		case r.URL.Path == "/apis/apps/v1/deployments":
			http.Error(w, "the store is away", http.StatusInternalServerError)
		case r.URL.Query().Get("watch") == "":
			fmt.Fprint(w, listJSON("1", "", cmJSON("a", 1)))
		default:
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}}
	notes, err := read(t, s, nil, func(c *Cluster) bool { return c.Synced() && c.Len() == 1 && len(c.kinds) == 1 })
	want := []string{`not watched: deployments.apps: an error on the server ("the store is away") has prevented the ` +
		"request from succeeding",
		"not watched: down.example/v1: the server does not list its resources: the server is currently " +
			"unable to handle the request",
		"not watched: pods: pods is forbidden"}
	if err != nil || !slices.Equal(notes, want) {
		t.Errorf("%v, notes %q, want %q", err, notes, want)
	}
	for _, a := range s.log() {
		if strings.Contains(a, "events") {
			t.Errorf("requested %s", a)
		}
	}
}

// It is an error if the server forbids the lists of all kinds, or if a requested kind does not exist.
func TestReaderErrors(t *testing.T) {
	s := &server{answer: func(_ *server, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}}
	never := func(*Cluster) bool { return false }
	if _, err := read(t, s, nil, never); err == nil || !strings.Contains(err.Error(), "none of 3 kinds can be listed") {
		t.Errorf("got %v", err)
	}
	_, err := read(t, s, func(r *Reader) { r.Kinds = []string{"podz"} }, never)
	if u := (*Unknown)(nil); !errors.As(err, &u) || u.Kind != "podz" || !slices.Contains(u.There, "pods") {
		t.Errorf("got %v", err)
	}
}

// If the server rejects a token, the kubeconfig's exec plugin is called again.
func TestReaderWithPlugin(t *testing.T) {
	dir := t.TempDir()
	plugin := filepath.Join(dir, "plugin")
	if err := os.WriteFile(plugin, []byte(`#!/bin/sh
echo >>`+dir+`/calls
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "'$(wc -l <`+dir+
		`/calls)'"}}'
`), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &server{answer: func(_ *server, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") == "Bearer 1":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Query().Get("watch") == "":
			fmt.Fprint(w, listJSON("1", "", cmJSON("a", 1)))
		default:
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}}
	on := httptest.NewServer(s)
	defer on.Close()
	defer on.CloseClientConnections()
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none")+string(os.PathListSeparator)+filepath.Join(dir, "config"))
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(`{apiVersion: v1, kind: Config, current-context: other,
		clusters: [{name: c, cluster: {server: "`+on.URL+`"}}],
		contexts: [{name: x, context: {cluster: c, user: u}}], users: [{name: u, user: {exec: {
			apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: `+plugin+`}}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := Load("", "x")
	if err != nil {
		t.Fatal(err)
	}
	notes, err := readFrom(t, config, func(r *Reader) { r.Kinds = []string{"cm"} },
		func(c *Cluster) bool { return c.Synced() && c.Len() == 1 })
	if err != nil || slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "configmaps") }) {
		t.Errorf("%v, notes %q", err, notes)
	}
}

// A server that stops responding during a watch is reported. If it does not respond again, Run returns an error.
func TestReaderReportsSilence(t *testing.T) {
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
		t.Fatal(err, "nothing is reported")
	}
	if got := <-told; got != err.Error() || !strings.HasPrefix(got, "the server does not answer: ") {
		t.Errorf("reported %q, and %v", got, err)
	}
}

// If a kubeconfig is given and wrong, the reader does not use the configuration of the pod instead.
func TestLoadErrors(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "1")
	file := filepath.Join(t.TempDir(), "config")
	const contexts = "apiVersion: v1\nkind: Config\ncontexts: [{name: a, context: {cluster: gone}}]\n"
	for _, c := range []struct{ text, context, want string }{
		{"", "", "it has no contexts"},
		{contexts, "", "no current context; set --context to one of: a"},
		{contexts, "b", `there is no context "b"; there are: a`},
		{contexts + "current-context: a\n", "", `context "a" names the cluster "gone", which does not exist`},
		{"hello", "", "error loading config file"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file, c.context); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%q, context %q: %v, want %s", c.text, c.context, err, c.want)
		}
	}
}
