package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/threelaws/threelaws/scenarios/builtin"
)

const brokenYAML = `apiVersion: v1
kind: ConfigMap
metadata: {name: owner, namespace: default, uid: 11111111-1111-1111-1111-111111111111, resourceVersion: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  namespace: default
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: 22222222-2222-2222-2222-222222222222}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: stranger
  namespace: kube-system
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: 11111111-1111-1111-1111-111111111111}]
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-5d, namespace: default, labels: {app: web, pod-template-hash: 5d}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
`

// serveWith runs serve with a kubeconfig, and returns that too.
func serveWith(t *testing.T, args ...string) (s *served, kubeconfig string) {
	t.Helper()
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	return startServe(t, append(args, "--kubeconfig", kubeconfig)...), kubeconfig
}

// What is there is looked at once, and exits with 1 where something is wrong.
func TestWatchOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(file, []byte(brokenYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	_, broken := serveWith(t, "--load", file)
	_, clean := serveWith(t)
	const once = "watch --once --patience 100ms --kubeconfig "
	got := typed(t, once+broken)
	for _, want := range []string{"--- lost-owner: cm/dependent", "--- foreign-owner: kube-system/cm/stranger",
		"--- orphan: rs/web-5d", "the cm/owner that is there has another uid", ": 3 findings\n"} {
		if !strings.Contains(strings.ReplaceAll(got.out, "default/", ""), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if got.code != 1 || got.err != "" || strings.Count(got.out, "--- ") != 3 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	for _, c := range []struct {
		args string
		code int
		out  string
	}{
		{once + clean, 0, ": nothing is wrong\n"},
		{once + broken + " -n kube-node-lease", 0, ": nothing is wrong\n"},
		{once + broken + " --kinds deploy", 0, "0 objects: there was nothing to look at\n"},
		{once + broken + " --kinds rs,deployments.apps", 1, "--- orphan: rs/web-5d"},
	} {
		if got := typed(t, c.args); got.code != c.code || !strings.Contains(got.out, c.out) || got.err != "" {
			t.Errorf("%s: exit %d\n%s%s", c.args, got.code, got.out, got.err)
		}
	}
	record := filepath.Join(t.TempDir(), "record.log")
	typed(t, once+broken+" --record "+record)
	if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), `"matchLabels"`) {
		t.Errorf("the first list is recorded without specs: %v\n%s", err, text)
	}
	got = typed(t, once+broken+" --output json --kinds cm")
	var sorts []string
	for line := range strings.Lines(got.out) {
		var l struct{ Event, Sort, Object string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err, line)
		}
		sorts = append(sorts, l.Event+" "+l.Sort)
	}
	slices.Sort(sorts)
	want := []string{"end ", "finding foreign-owner", "finding lost-owner"}
	if !slices.Equal(sorts, want) || got.code != 1 {
		t.Errorf("exit %d, lines %q, want %q", got.code, sorts, want)
	}
}

// following is a watch that runs, and what it has printed.
type following struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen chan struct{}
	done chan int
}

func (f *following) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Write(b)
	select {
	case f.seen <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (f *following) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

// beginWatch begins to watch.
func beginWatch(t *testing.T, args ...string) (f *following, stop func() (code int)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	f = &following{seen: make(chan struct{}, 1), done: make(chan int, 1)}
	go func() {
		f.done <- Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: f, Err: f}.Run(ctx,
			append([]string{"watch"}, args...))
	}()
	t.Cleanup(cancel)
	return f, func() int { cancel(); return <-f.done }
}

// until waits until something is printed.
func (f *following) until(t *testing.T, what string) {
	t.Helper()
	for !strings.Contains(f.String(), what) {
		select {
		case <-f.seen:
		case code := <-f.done:
			t.Fatalf("it has ended with %d and did not say %q:\n%s", code, what, f)
		}
	}
}

// Two controllers from before ControllerRef with one selector fight, are told of, and
// what is recorded is read by judge.
func TestWatchFight(t *testing.T) {
	s, config := serveWith(t, "--controllers", "replicaset@selector,replication@selector")
	record := filepath.Join(t.TempDir(), "history.log")
	f, stop := beginWatch(t, "--kubeconfig", config, "--record", record)
	pod := "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}"
	s.apply(t, "/apis/apps/v1/namespaces/default/replicasets", "{apiVersion: apps/v1, kind: ReplicaSet, metadata: "+
		"{name: a}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, "+pod+"}}")
	s.apply(t, "/api/v1/namespaces/default/replicationcontrollers", "{apiVersion: v1, kind: ReplicationController, "+
		"metadata: {name: b}, spec: {replicas: 2, selector: {app: web}, "+pod+"}}")
	f.until(t, "--- fight goes on: default/pods")
	if code := stop(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	text := strings.Join(strings.Fields(f.String()), " ")
	for _, want := range []string{"rs/a wants 1", "rc/b wants 2", "come and gone 3 times",
		"made by replicaset and replication", "create pod/b-"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, f)
		}
	}
	judged := typed(t, "judge "+record)
	if judged.code != 1 || !strings.Contains(judged.out, "take-ownership broken") || judged.err != "" ||
		strings.Contains(judged.out, "not judged: writes") {
		t.Errorf("judge: exit %d\n%s%s", judged.code, judged.out, judged.err)
	}
	if shown := typed(t, "show "+record); shown.code != 0 || shown.err != "" ||
		!strings.Contains(shown.out, "VIOLATES take-ownership") || !strings.Contains(shown.out, " pod/b-") {
		t.Errorf("show: exit %d\n%.3000s%s", shown.code, shown.out, shown.err)
	}
}

// A rollout by the controllers of today is nothing to speak of, live and as recorded.
func TestWatchRollout(t *testing.T) {
	s, config := serveWith(t, "--controllers", "all", "--realtime=false")
	record := filepath.Join(t.TempDir(), "history.log")
	f, stop := beginWatch(t, "--kubeconfig", config, "--record", record, "--patience", "500ms", "--stuck-after", "5s")
	f.until(t, "watching ")
	pod := func(image string) string {
		return "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: " + image + "}]}}"
	}
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	s.apply(t, deployments, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, "+
		"selector: {matchLabels: {app: web}}, "+pod("one")+"}}")
	s.available(t, deployments+"/web", 3)
	for _, c := range []struct {
		patch string
		n     int
	}{
		{`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"two"}]`, 3},
		{`[{"op":"replace","path":"/spec/replicas","value":1}]`, 1},
		{`[{"op":"replace","path":"/spec/replicas","value":4}]`, 4},
	} {
		s.send(t, http.MethodPatch, deployments+"/web", c.patch)
		s.available(t, deployments+"/web", c.n)
	}
	s.send(t, http.MethodDelete, deployments+"/web", `{"propagationPolicy":"Foreground"}`)
	s.gone(t, deployments+"/web")
	if code := stop(); code != exitInterrupted || strings.Contains(f.String(), "---") {
		t.Errorf("exit code %d\n%s", code, f)
	}
	if got := typed(t, "judge "+record); got.code != 0 || strings.Contains(got.out, "broken by") {
		t.Errorf("judge: exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// A server that dies is an error at the end, and not a cluster in which nothing is wrong.
func TestWatchServerDies(t *testing.T) {
	s, config := serveWith(t)
	f, stop := beginWatch(t, "--kubeconfig", config, "--for", "3s")
	f.until(t, "watching ")
	s.stop()
	f.until(t, "\nthreelaws: watch: the server does not answer: ")
	if code := stop(); code != 2 {
		t.Errorf("exit code %d\n%s", code, f)
	}
}

// available waits until a Deployment is what it should be.
func (s *served) available(t *testing.T, path string, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		var d struct {
			Metadata struct{ Generation int }
			Status   struct{ ObservedGeneration, Replicas, UpdatedReplicas, AvailableReplicas int }
		}
		if err := json.Unmarshal([]byte(s.get(t, path).body), &d); err != nil {
			t.Fatal(err)
		}
		if st := d.Status; st.ObservedGeneration == d.Metadata.Generation && st.Replicas == n &&
			st.UpdatedReplicas == n && st.AvailableReplicas == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come to %d: %+v", path, n, d)
		}
	}
}

// apply creates an object from YAML.
func (s *served) apply(t *testing.T, path, body string) {
	t.Helper()
	resp, err := http.Post(s.url+path, "application/yaml", strings.NewReader(body))
	if got := answerOf(t, resp, err); got.code != http.StatusCreated {
		t.Fatalf("%s: %d %s", path, got.code, got.body)
	}
}

func TestWatchUsage(t *testing.T) {
	_, config := serveWith(t)
	for _, c := range []struct{ args, want string }{
		{"watch --kubeconfig nothing", "watch: nothing: stat nothing"},
		{"watch --kubeconfig " + config + " --context no", `there is no context "no"; there are: threelaws`},
		{"watch --kubeconfig " + config + " --kinds podz", "there is no kind podz that can be listed and watched; " +
			"did you mean pods?"},
		{"watch --kubeconfig " + config + " --once --for 1m", "it is one or the other"},
		{"watch --kubeconfig " + config + " --output xml", "xml is not one of its values"},
		{"watch --kubeconfig " + config + " --patience 0s", "are times, as 30s"},
		{"watch --kubeconfig " + config + " --record /no/such/file", "--record: open /no/such/file"},
		{"watch --kubeconfig " + config + " --record " + config, "is there already, and is not written over"},
		{"watch more", "watch takes no arguments"},
	} {
		if got := typed(t, c.args); got.code != 2 || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: exit %d, %q, want %q", c.args, got.code, got.err, c.want)
		}
	}
}
