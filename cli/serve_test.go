package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

const (
	setsPath        = "/apis/apps/v1/namespaces/default/replicasets"
	deploymentsPath = "/apis/apps/v1/namespaces/default/deployments"
	rcsPath         = "/api/v1/namespaces/default/replicationcontrollers"
	podsPath        = "/api/v1/namespaces/default/pods"
	configsPath     = "/api/v1/namespaces/default/configmaps"
	jobsPath        = "/apis/batch/v1/namespaces/default/jobs"
)

// podTemplate is the template of pods with the label app: web.
const podTemplate = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}"

const worldYAML = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  ` + podTemplate + "\n"

// heard collects the output of a command while it runs.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func (h *heard) until(t *testing.T, want string) {
	t.Helper()
	eventually(t, func() (missing string) {
		if !strings.Contains(h.String(), want) {
			missing = fmt.Sprintf("%q is not printed:\n%s", want, h)
		}
		return missing
	})
}

// eventually waits for at most 30 seconds until missing returns "".
func eventually(t *testing.T, missing func() string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		what := missing()
		if what == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// served is a "threelaws serve" that runs in this process.
type served struct {
	url      string
	out, err heard
	stop     func() (code int, stderr string)
}

// startServe starts "threelaws serve" and waits until it answers requests.
func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := &served{}
	code := make(chan int, 1)
	go func() {
		code <- Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &s.out, Err: &s.err}.Run(ctx,
			append([]string{"serve"}, args...))
	}()
	s.stop = func() (int, string) {
		cancel()
		return <-code, s.err.String()
	}
	address := regexp.MustCompile(`https?://[0-9.:]+`)
	eventually(t, func() string {
		select {
		case n := <-code:
			t.Fatalf("it ended with exit code %d: %s", n, &s.err)
		default:
		}
		if s.url = address.FindString(s.out.String()); s.url == "" {
			return "it does not serve"
		}
		return ""
	})
	return s
}

type answered struct {
	code     int
	body     string
	warnings []string
	err      error // the connection broke
}

func (a answered) ok() bool { return a.err == nil && a.code < 300 }

// call sends a request. An empty agent stands for the user agent of Go's HTTP client.
func (s *served) call(t *testing.T, agent, method, path, body string) answered {
	t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	must(t, err)
	switch {
	case method == http.MethodPatch:
		req.Header.Set("Content-Type", "application/json-patch+json")
	case strings.Contains(body, "kind: "):
		req.Header.Set("Content-Type", "application/yaml")
	default:
		req.Header.Set("Content-Type", "application/json")
	}
	if agent != "" {
		req.Header.Set("User-Agent", agent+"/v1.0 (linux/amd64)")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answered{err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, string(text), resp.Header.Values("Warning"), err}
}

func (s *served) get(t *testing.T, path string) answered {
	t.Helper()
	return s.call(t, "", "GET", path, "")
}

func (s *served) post(t *testing.T, path, body string) answered {
	t.Helper()
	return s.call(t, "", "POST", path, body)
}

// send sends a request that must succeed, and returns the UID of the object in the answer.
func (s *served) send(t *testing.T, method, path, body string) (uid string) {
	t.Helper()
	got := s.call(t, "", method, path, body)
	var object struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal([]byte(got.body), &object); !got.ok() || err != nil {
		t.Fatalf("%s %s: %+v", method, path, got)
	}
	return object.Metadata.UID
}

// gone waits until the object at a path does not exist.
func (s *served) gone(t *testing.T, path string) {
	t.Helper()
	eventually(t, func() (missing string) {
		if got := s.get(t, path); got.code != http.StatusNotFound {
			missing = path + " is still there: " + got.body
		}
		return missing
	})
}

// until reads a watch until enough accepts an event.
func (s *served) until(t *testing.T, path string, enough func(kind string, p *corev1.Pod) bool) {
	t.Helper()
	resp, err := http.Get(s.url + path + "?watch=1&timeoutSeconds=20")
	must(t, err)
	defer resp.Body.Close()
	for d := json.NewDecoder(resp.Body); ; {
		var e struct {
			Type   string
			Object corev1.Pod
		}
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if enough(e.Type, &e.Object) {
			return
		}
	}
}

// Controllers act in real time on the objects of a loaded file. A dump can be loaded, and is dumped again unchanged.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write(t, file("world.yaml"), worldYAML)
	s := startServe(t, "--load", file("world.yaml"), "--controllers", "replicaset,gc", "--kubeconfig",
		file("kubeconfig"), "--dump", file("one.yaml"))
	if config := read(t, file("kubeconfig")); !strings.Contains(config, "server: "+s.url) {
		t.Errorf("the kubeconfig does not name %s: %s", s.url, config)
	}
	pods := 0
	s.until(t, "/api/v1/namespaces/shop/pods", func(kind string, p *corev1.Pod) bool {
		if kind == "ADDED" && len(p.OwnerReferences) == 1 && p.OwnerReferences[0].Name == "web" {
			pods++
		}
		return pods == 2
	})
	if code, stderr := s.stop(); code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	s = startServe(t, "--load", file("one.yaml"), "--dump", file("two.yaml"))
	s.stop()
	one, two := read(t, file("one.yaml")), read(t, file("two.yaml"))
	if n := strings.Count(two, "kind: Pod\n"); one != two || n != 2 {
		t.Errorf("%d bytes were dumped, and after loading them %d, with %d Pods, want 2", len(one), len(two), n)
	}
}

// With --tls the kubeconfig has the certificate. Without --tls it sets insecure-skip-tls-verify.
func TestServeKubeconfigs(t *testing.T) {
	for _, flags := range [][]string{nil, {"--tls"}} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		startServe(t, append(flags, "--kubeconfig", path)...)
		config, err := clientcmd.BuildConfigFromFlags("", path)
		must(t, err)
		if text := read(t, path); strings.Contains(text, "insecure-skip-tls-verify: true") != (flags == nil) {
			t.Errorf("%v: %s", flags, text)
		}
		version, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
		if err != nil || version.Minor != "36" {
			t.Errorf("%v: %v %v", flags, version, err)
		}
	}
}

// Admission plugins and the warnings about missing controllers can be switched off.
func TestServePluginsAndExternalControllers(t *testing.T) {
	s := startServe(t, "--disable-admission-plugins", "TaintNodesByCondition,NamespaceLifecycle", "--external-controllers")
	if node := s.post(t, "/api/v1/nodes", `{"metadata":{"name":"n"}}`); !node.ok() || strings.Contains(node.body, "taints") {
		t.Errorf("a new node: %+v", node)
	}
	got := s.post(t, "/apis/apps/v1/namespaces/none/deployments",
		"{kind: Deployment, apiVersion: apps/v1, metadata: {name: d}, spec: {selector: {matchLabels: {app: web}}, "+podTemplate+"}}")
	if !got.ok() || len(got.warnings) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestServeUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	write(t, bad, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\nkind: Teapot\napiVersion: v1\n")
	faults := filepath.Join(t.TempDir(), "faults")
	write(t, faults, "# one\nhold op sees=Pod\nhodl op sees=Pod\n")
	for _, x := range []struct{ args, want string }{
		{"--listen 0.0.0.0:0", "not a loopback address; --unauthenticated-anywhere"},
		{"--listen nowhere", "an address is HOST:PORT"},
		{"--controllers replicaset@old", "unknown era old of replicaset"},
		{"--load " + bad, "bad.yaml:5: the kind \"Teapot\""},
		{"--load nothing.yaml", "nothing.yaml: "},
		{"--disable-admission-plugins LimitRangr", "LimitRangr is unknown; did you mean LimitRanger?"},
		{"--enable-admission-plugins PodNodeSelector", "PodNodeSelector is not modelled"},
		{"--enable-admission-plugins Priority --disable-admission-plugins Priority",
			"Priority is in --disable-admission-plugins, too"},
		{"--start servis", "did you mean service?"},
		{"--tls --kubeconfig /nowhere/file", "--kubeconfig: "},
		{"more", "serve takes no arguments"},
		{"--faults " + faults, "faults:3: unknown fault hodl; did you mean hold?"},
		{"--faults " + faults + "x", "faultsx: "},
		{"--faults " + t.TempDir(), "cannot be read: is a directory\n"},
		{"--programs user=job", "user is the server's name for clients without a user agent"},
		{"--programs job=job --controllers job", "job is a controller that the server runs"},
		{"--programs my-op", "--programs: my-op is not NAME=CONTROLLER"},
		{"--programs my-op=replicasett", "did you mean replicaset?"},
		{"--programs my-op=gc", "gc is not a controller that reconciles a kind"},
		{"--programs a=job,a=job", "a is named twice"},
	} {
		typed(t, "serve "+x.args).wants(t, scenarios.ExitUsage, x.want)
	}
	cli(t, "serve", "--fault", "fail op craete pod with=500").wants(t, scenarios.ExitUsage,
		"--fault: fail: unknown API verb craete; did you mean create?")
}

// With --json a server prints its URL, and then each violation, as a line of JSON.
func TestServeJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.yaml")
	write(t, path, worldYAML)
	s := startServe(t, "--json", "--load", path, "--controllers", "replicaset@selector")
	s.out.until(t, `"violates"`)
	_, stderr := s.stop()
	var lines []serveLine
	for text := range strings.Lines(s.out.String()) {
		var l serveLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, l)
	}
	if lines[0].Event != "serving" || lines[0].URL != s.url || stderr != "" {
		t.Errorf("%+v %s", lines[0], stderr)
	}
	if l := lines[1]; l.Event != "violates" || l.ID != "LAW-1" || l.Law != "take-ownership" ||
		l.Text != "created without a ControllerRef" {
		t.Errorf("%+v", l)
	}
}

// A server judges the controllers that it runs. It reports each law at most once for each controller.
func TestServeJudges(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset@selector,replication@selector")
	s.rivals(t)
	events := 0
	s.until(t, podsPath, func(string, *corev1.Pod) bool { events++; return events > 50 })
	_, stderr := s.stop()
	for _, want := range []string{"VIOLATES take-ownership by replicaset: pod/a-",
		"VIOLATES take-ownership by replication: pod/b-", "VIOLATES never-fight by replicaset and replication: "} {
		if strings.Count(stderr, want) != 1 {
			t.Errorf("%q is not printed once:\n%s", want, stderr)
		}
	}
}

func (s *served) rivals(t *testing.T) {
	t.Helper()
	s.send(t, "POST", setsPath, "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 1, "+
		"selector: {matchLabels: {app: web}}, "+podTemplate+"}}")
	s.send(t, "POST", rcsPath, "{apiVersion: v1, kind: ReplicationController, metadata: {name: b}, spec: {replicas: 2, "+
		"selector: {app: web}, "+podTemplate+"}}")
}

// A controller that fails at one object again and again is reported once, and continues with the other objects.
func TestServeReportsFailures(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset")
	for name, finalizer := range map[string]string{"bad": "nobody", "good": ""} {
		s.send(t, "POST", setsPath, "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: "+name+"}, spec: "+
			"{replicas: 1, selector: {matchLabels: {app: "+name+"}}, template: {metadata: {labels: {app: "+
			name+"}, finalizers: ["+finalizer+"]}, spec: {containers: [{name: c, image: i}]}}}}")
	}
	s.until(t, podsPath, func(_ string, p *corev1.Pod) bool { return p.Labels["app"] == "good" })
	s.err.until(t, "replicaset fails at rs/bad, 5 times so far")
	_, stderr := s.stop()
	if n := strings.Count(stderr, " fails at "); n != 1 ||
		!strings.Contains(stderr, "metadata.finalizers[0]: Invalid value: \"nobody\"") {
		t.Errorf("%d reports:\n%s", n, stderr)
	}
}
