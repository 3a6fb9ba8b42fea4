package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// server answers as it is told, and keeps what it was asked.
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
	switch r.URL.Path {
	case "/api/v1":
		fmt.Fprint(w, `{"resources":[{"name":"configmaps","singularName":"configmap","kind":"ConfigMap","namespaced":true,`+
			`"verbs":["list","watch"],"shortNames":["cm"]},{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list",`+
			`"watch"]},{"name":"pods/log","kind":"Pod","verbs":["get"]},{"name":"bindings","kind":"Binding",`+
			`"verbs":["create"]},{"name":"events","kind":"Event","namespaced":true,"verbs":["list","watch"]}]}`)
	case "/apis":
		fmt.Fprint(w, `{"groups":[{"name":"apps","preferredVersion":{"groupVersion":"apps/v1","version":"v1"},`+
			`"versions":[{"groupVersion":"apps/v1","version":"v1"}]},{"name":"down.example","preferredVersion":`+
			`{"groupVersion":"down.example/v1","version":"v1"}}]}`)
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

// read runs a reader of a server until the cluster is as it should be.
func read(t *testing.T, s *server, r func(*Reader), enough func(*Cluster) bool) (notes []string, err error) {
	t.Helper()
	on := httptest.NewServer(s)
	defer on.Close()
	defer on.CloseClientConnections()
	base, _ := url.Parse(on.URL)
	reader, err := NewReader(&Config{Server: base})
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
		t.Errorf("it did not come to be so; asked for %q", s.log())
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(notes)
	return slices.Clone(notes), err
}

// Pages are read to their end; a watch goes on from the last bookmark when it breaks off;
// who is told that a version is too old lists again, and what is not there any more is gone.
func TestReaderComesBack(t *testing.T) {
	s := &server{}
	s.answer = func(s *server, w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		list := func(version, rest string, items ...string) {
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":%q,"continue":%q},"items":[%s]}`, version, rest,
				strings.Join(items, ","))
		}
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
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"30"}}}`,
				cmJSON("c", 11))
		case 2:
			http.Error(w, "busy", http.StatusTooManyRequests)
		case 3:
			fmt.Fprint(w, `{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}`)
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
	want := []string{at, at + "  more", at + " 1 10", at + " 1 30", at + " 1 30", at}
	if len(asked) < len(want) || !slices.Equal(asked[:len(want)], want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// What may not be listed, or is not answered for, is told once and left out; the rest is
// looked at.
func TestReaderLeavesOut(t *testing.T) {
	s := &server{answer: func(_ *server, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/pods":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","message":"pods is forbidden"}`)
		case r.URL.Path == "/apis/apps/v1/deployments":
			http.Error(w, "the store is away", http.StatusInternalServerError)
		case r.URL.Query().Get("watch") == "":
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":"1"},"items":[%s]}`, cmJSON("a", 1))
		default:
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}}
	notes, err := read(t, s, nil, func(c *Cluster) bool { return c.Synced() && c.Len() == 1 && len(c.kinds) == 1 })
	want := []string{"not looked at: deployments.apps: 500 Internal Server Error",
		"not looked at: down.example/v1: the server does not say what is in it: 503 Service Unavailable",
		"not looked at: pods: pods is forbidden"}
	if err != nil || !slices.Equal(notes, want) {
		t.Errorf("%v, notes %q, want %q", err, notes, want)
	}
	for _, a := range s.log() {
		if strings.Contains(a, "events") {
			t.Errorf("asked for %s", a)
		}
	}
}

// A server where nothing may be listed, and a kind that is not there, are errors.
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

// What a kubeconfig says of who asks stands in the request.
func TestKubeconfig(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("token", "from-a-file\n")
	plugin := file("plugin", "#!/bin/sh\necho "+
		"'{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"from-a-plugin\"}}'\n")
	config := func(user, context string) string {
		return file("config", `{current-context: x, clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}],
			contexts: [{name: `+context+`, context: {cluster: c, user: u}}], users: [{name: u, user: `+user+`}]}`)
	}
	for _, c := range []struct{ user, want string }{
		{"{token: abc}", "Bearer abc"},
		{"{tokenFile: token}", "Bearer from-a-file"},
		{"{username: a, password: b}", "Basic YTpi"},
		{"{exec: {apiVersion: client.authentication.k8s.io/v1, command: " + plugin + "}}", "Bearer from-a-plugin"},
		{"{}", ""},
	} {
		k, err := Load(config(c.user, "x"), "")
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequest("GET", "/", nil)
		if err := k.sign(req); err != nil || req.Header.Get("Authorization") != c.want {
			t.Errorf("%s: %v, %q, want %q", c.user, err, req.Header.Get("Authorization"), c.want)
		}
	}
	for _, c := range []struct{ user, context, want string }{
		{"{auth-provider: {name: gcp}}", "x", "the auth-provider gcp is not supported"},
		{"{}", "y", `there is no context "x"`},
		{"[", "x", "yaml"},
	} {
		if _, err := Load(config(c.user, c.context), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.user, err, c.want)
		}
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none")+string(os.PathListSeparator)+config("{token: t}", "x"))
	if k, err := Load("", "x"); err != nil || k.user.Token != "t" {
		t.Errorf("of a list: %v", err)
	}
}
