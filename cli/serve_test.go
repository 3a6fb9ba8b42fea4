package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/threelaws/threelaws/scenarios/builtin"
)

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
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: img}]}
`

// served is a server that was started by the command.
type served struct {
	url   string
	stop  func() (code int, stderr string)
	heard *heard
}

// startServe runs "threelaws serve" and waits until it serves.
func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	stderr := newHeard()
	code := make(chan int, 1)
	a := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: w, Err: stderr}
	go func() {
		code <- a.Run(ctx, append([]string{"serve"}, args...))
		w.Close()
	}()
	var url string
	if _, err := fmt.Fscanf(r, "serving on %s\n", &url); err != nil {
		cancel()
		t.Fatalf("%v; exit code %d: %s", err, <-code, stderr.String())
	}
	go io.Copy(io.Discard, r)
	stop := func() (int, string) {
		cancel()
		return <-code, stderr.String()
	}
	t.Cleanup(cancel)
	return &served{url, stop, stderr}
}

// until reads a watch until the condition holds of an event's object.
func (s *served) until(t *testing.T, path string, enough func(kind string, p *corev1.Pod) bool) {
	t.Helper()
	resp, err := http.Get(s.url + path + "?watch=1&timeoutSeconds=20")
	if err != nil {
		t.Fatal(err)
	}
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

// Controllers work in real time on what was loaded; what is dumped loads again
// and dumps the same.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("world.yaml"), []byte(worldYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--load", file("world.yaml"), "--controllers", "replicaset,gc", "--kubeconfig",
		file("kubeconfig"), "--dump", file("one.yaml"))
	config, err := os.ReadFile(file("kubeconfig"))
	if err != nil || !strings.Contains(string(config), "server: "+s.url) {
		t.Errorf("the kubeconfig does not name %s: %s %v", s.url, config, err)
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
	one, _ := os.ReadFile(file("one.yaml"))
	two, _ := os.ReadFile(file("two.yaml"))
	if len(one) == 0 || !bytes.Equal(one, two) {
		t.Errorf("what was dumped, loaded and dumped differs: %d and %d bytes", len(one), len(two))
	}
	if n := bytes.Count(two, []byte("kind: Pod\n")); n != 2 {
		t.Errorf("%d Pods in the dump, want 2", n)
	}
}

// What is only stored is created with a warning, and a line in the log.
func TestServeTellsWhatIsOnlyStored(t *testing.T) {
	s := startServe(t)
	post := func(query, body string) []string {
		t.Helper()
		resp, err := http.Post(s.url+"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"+query,
			"application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.Header.Values("Warning")
	}
	const closed = `{"metadata":{"name":"closed"},"spec":{"podSelector":{}}}`
	for _, c := range []struct {
		query string
		warns int
	}{{"?dryRun=All", 0}, {"", 1}, {"", 0}} { // the last is refused: the name is taken
		if got := post(c.query, closed); len(got) != c.warns {
			t.Errorf("%q is created with warnings %q, want %d", c.query, got, c.warns)
		}
	}
	const want = "networkpolicy default/closed is stored: no traffic is filtered\n"
	if _, stderr := s.stop(); stderr != want {
		t.Errorf("the log is %q, want %q", stderr, want)
	}
}

// Over TLS, the certificate is in the kubeconfig; without it, the kubeconfig says that there is none.
func TestServeKubeconfigs(t *testing.T) {
	for _, flags := range [][]string{nil, {"--tls"}} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		startServe(t, append(flags, "--kubeconfig", path)...)
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), "insecure-skip-tls-verify: true") != (flags == nil) {
			t.Errorf("%v: %s %v", flags, text, err)
		}
		version, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
		if err != nil || version.Minor != "36" {
			t.Errorf("%v: %v %v", flags, version, err)
		}
	}
}

// A plugin of admission can be switched off, and controllers of others be reckoned with.
func TestServePluginsAndExternalControllers(t *testing.T) {
	s := startServe(t, "--disable-admission-plugins", "TaintNodesByCondition,NamespaceLifecycle", "--external-controllers")
	post := func(path, body string) (string, []string) {
		t.Helper()
		resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s %v", path, resp.StatusCode, text, err)
		}
		return string(text), resp.Header.Values("Warning")
	}
	if node, _ := post("/api/v1/nodes", `{"metadata":{"name":"n"}}`); strings.Contains(node, "taints") {
		t.Errorf("a new node is tainted: %s", node)
	}
	if _, warnings := post("/apis/apps/v1/namespaces/none/deployments", `{"metadata":{"name":"d"},"spec":{"selector":
		{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",
		"image":"i"}]}}}}`); len(warnings) > 0 {
		t.Errorf("warned: %q", warnings)
	}
}

// In a hurry, timers wait only until nothing else can happen: minutes of a
// controller's backoff pass at once.
func TestServeInAHurry(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "world.yaml")
	if err := os.WriteFile(path, []byte(worldYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--load", path, "--controllers", "all", "--realtime=false")
	ready := map[string]bool{}
	s.until(t, "/api/v1/namespaces/shop/pods", func(_ string, p *corev1.Pod) bool {
		if p.Status.Phase == corev1.PodRunning {
			ready[p.Name] = true
		}
		return len(ready) == 2
	})
	if code, stderr := s.stop(); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Requests that were meant for another host are refused.
func TestServeOtherHost(t *testing.T) {
	s := startServe(t)
	req, err := http.NewRequest("GET", s.url+"/api", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("status %d, want 403", resp.StatusCode)
	}
}

func TestServeUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	text := "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\nkind: Teapot\napiVersion: v1\n"
	if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ args, want string }{
		{"--listen 0.0.0.0:0", "no loopback address; --unauthenticated-anywhere"},
		{"--listen nowhere", "an address is HOST:PORT"},
		{"--controllers replicasett", "did you mean replicaset?"},
		{"--controllers replicaset@old", "unknown era old of replicaset"},
		{"--controllers gc,garbagecollector", "is named twice"},
		{"--controllers -gc", "leaves out what nothing means"},
		{"--controllers *,-gcc", "unknown controller gcc; did you mean gc?"},
		{"--controllers *@old", "unknown era old"},
		{"--controllers *,nodeipam", "nodeipam is one of kube-controller-manager's controllers, and is not here"},
		{"--controllers replicaset-controler", "did you mean replicaset-controller?"},
		{"--load " + bad, "bad.yaml:5: the kind \"Teapot\""},
		{"--load nothing.yaml", "nothing.yaml: "},
		{"--disable-admission-plugins LimitRangr", "LimitRangr is unknown; did you mean LimitRanger?"},
		{"--enable-admission-plugins PodNodeSelector", "PodNodeSelector is not modelled"},
		{"--enable-admission-plugins Priority --disable-admission-plugins Priority",
			"Priority is in --disable-admission-plugins, too"},
		{"--tls --kubeconfig /nowhere/file", "--kubeconfig: "},
		{"more", "serve takes no arguments"},
	} {
		var stdout, stderr bytes.Buffer
		c := Command{Registry: builtin.Registry(), Bare: true, Out: &stdout, Err: &stderr}
		if code := c.Run(context.Background(), append([]string{"serve"}, strings.Fields(x.args)...)); code != 2 ||
			!strings.Contains(stderr.String(), x.want) {
			t.Errorf("serve %s: exit code %d, %q, want 2 and %q", x.args, code, stderr.String(), x.want)
		}
	}
}

// With --json a server tells where it is, and what breaks, in lines of JSON.
func TestServeJSON(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "world.yaml")
	if err := os.WriteFile(path, []byte(worldYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, w := io.Pipe()
	var stderr bytes.Buffer
	go func() {
		Command{Registry: builtin.Registry(), Bare: true, Out: w, Err: &stderr}.Run(ctx,
			[]string{"serve", "--json", "--load", path, "--controllers", "replicaset@selector"})
		w.Close()
	}()
	var lines []serveLine
	for in := bufio.NewScanner(r); in.Scan(); {
		var l serveLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, in.Text())
		}
		if lines = append(lines, l); l.Event == "violates" {
			cancel()
		}
	}
	if len(lines) < 2 || lines[0].Event != "serving" || !strings.HasPrefix(lines[0].URL, "http://127.0.0.1:") {
		t.Fatalf("%+v %s", lines, stderr.String())
	}
	if l := lines[1]; l.Event != "violates" || l.ID != "LAW-1" || l.Law != "take-ownership" ||
		l.Text != "created without a ControllerRef" {
		t.Errorf("%+v", l)
	}
	if stderr.Len() > 0 {
		t.Errorf("on standard error: %s", stderr.String())
	}
}

// A server that runs controllers judges them, and tells of each law once for each of them.
func TestServeJudges(t *testing.T) {
	s := startServe(t, "--listen", "127.0.0.1:0", "--controllers", "replicaset@selector,replication@selector")
	post := func(path, body string) {
		t.Helper()
		resp, err := http.Post(s.url+path, "application/yaml", strings.NewReader(body))
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
	}
	pod := "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}"
	post("/apis/apps/v1/namespaces/default/replicasets",
		"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 1, selector: {matchLabels: "+
			"{app: web}}, "+pod+"}}")
	post("/api/v1/namespaces/default/replicationcontrollers",
		"{apiVersion: v1, kind: ReplicationController, metadata: {name: b}, spec: {replicas: 2, selector: {app: web}, "+
			pod+"}}")
	events := 0
	s.until(t, "/api/v1/namespaces/default/pods", func(string, *corev1.Pod) bool { events++; return events > 50 })
	_, stderr := s.stop()
	for _, want := range []string{"VIOLATES take-ownership by replicaset: pod/a-",
		"VIOLATES take-ownership by replication: pod/b-", "VIOLATES never-fight by replicaset and replication: "} {
		if strings.Count(stderr, want) != 1 {
			t.Errorf("%q is not told once:\n%s", want, stderr)
		}
	}
}

// What a controller fails at for ever is told once, and the others go on.
func TestServeTellsOfWhatFails(t *testing.T) {
	s := startServe(t, "--listen", "127.0.0.1:0", "--controllers", "replicaset")
	post := func(name, finalizer string) {
		t.Helper()
		resp, err := http.Post(s.url+"/apis/apps/v1/namespaces/default/replicasets", "application/yaml",
			strings.NewReader("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: "+name+"}, spec: "+
				"{replicas: 1, selector: {matchLabels: {app: "+name+"}}, template: {metadata: {labels: {app: "+
				name+"}, finalizers: ["+finalizer+"]}, spec: {containers: [{name: c, image: i}]}}}}"))
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
	}
	post("bad", "nobody")
	post("good", "")
	s.until(t, "/api/v1/namespaces/default/pods",
		func(_ string, p *corev1.Pod) bool { return p.Labels["app"] == "good" })
	s.untilSaid(t, "replicaset fails at rs/bad, 5 times by now")
	_, stderr := s.stop()
	if n := strings.Count(stderr, " fails at "); n != 1 ||
		!strings.Contains(stderr, "metadata.finalizers[0]: Invalid value: \"nobody\"") {
		t.Errorf("told %d times:\n%s", n, stderr)
	}
}

// answered is what a server answered.
type answered struct {
	code     int
	body     string
	warnings []string
}

// get asks a served server for what is at a path.
func (s *served) get(t *testing.T, path string) answered {
	t.Helper()
	resp, err := http.Get(s.url + path)
	return answerOf(t, resp, err)
}

// post creates an object.
func (s *served) post(t *testing.T, path, body string) answered {
	t.Helper()
	resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	return answerOf(t, resp, err)
}

func answerOf(t *testing.T, resp *http.Response, err error) answered {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, string(body), resp.Header.Values("Warning")}
}
