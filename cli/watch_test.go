package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

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
  name: outsider
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

func serveWith(t *testing.T, args ...string) (s *served, kubeconfig string) {
	t.Helper()
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	return startServe(t, append(args, "--kubeconfig", kubeconfig)...), kubeconfig
}

// watch --once prints the violations of the current state, and exits with 1 if there are any.
func TestWatchOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "broken.yaml")
	write(t, file, brokenYAML)
	_, broken := serveWith(t, "--load", file)
	_, clean := serveWith(t)
	const once = "watch --once --patience 100ms --kubeconfig "
	got := typed(t, once+broken)
	for _, want := range []string{"--- lost-owner: cm/dependent", "--- foreign-owner: kube-system/cm/outsider",
		"--- orphan: rs/web-5d", "the existing cm/owner has another uid", ": 3 findings\n"} {
		if !strings.Contains(strings.ReplaceAll(got.out, "default/", ""), want) {
			t.Errorf("the output does not contain %q", want)
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
	if text := read(t, record); !strings.Contains(text, `"matchLabels"`) {
		t.Errorf("the first list is recorded without specs:\n%s", text)
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

type watched struct {
	heard
	stop func() (code int)
}

func beginWatch(t *testing.T, args ...string) *watched {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	w := &watched{}
	done := make(chan int, 1)
	go func() {
		done <- Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: w, Err: w}.Run(ctx,
			append([]string{"watch"}, args...))
	}()
	t.Cleanup(cancel)
	w.stop = func() int { cancel(); return <-done }
	return w
}

// Two controllers without ControllerRef fight, and watch reports them. judge can read the recorded history.
func TestWatchFight(t *testing.T) {
	s, config := serveWith(t, "--controllers", "replicaset@selector,replication@selector")
	record := filepath.Join(t.TempDir(), "history.log")
	w := beginWatch(t, "--kubeconfig", config, "--record", record)
	s.rivals(t)
	w.until(t, "--- fight continues: default/pods")
	if code := w.stop(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	text := strings.Join(strings.Fields(w.String()), " ")
	for _, want := range []string{"rs/a wants 1", "rc/b wants 2", "come and gone 3 times",
		"made by replicaset and replication", "create pod/b-"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output does not contain %q:\n%s", want, w)
		}
	}
	judged := typed(t, "judge "+record)
	if judged.code != 1 || !strings.Contains(judged.out, "take-ownership violated") || judged.err != "" ||
		strings.Contains(judged.out, "not judged: writes") {
		t.Errorf("judge: exit %d\n%s%s", judged.code, judged.out, judged.err)
	}
	typed(t, "show "+record).passes(t, "VIOLATES take-ownership", " pod/b-")
}

// If the server stops answering, watch reports an error, and not that there are no violations.
func TestWatchServerDies(t *testing.T) {
	s, config := serveWith(t)
	w := beginWatch(t, "--kubeconfig", config, "--for", "3s")
	w.until(t, "watching ")
	s.stop()
	w.until(t, "\nthreelaws: watch: the server does not answer: ")
	if code := w.stop(); code != 2 {
		t.Errorf("exit code %d\n%s", code, w)
	}
}

func TestWatchUsage(t *testing.T) {
	_, config := serveWith(t)
	for _, c := range []struct{ args, want string }{
		{"watch --kubeconfig nothing", "watch: nothing: stat nothing"},
		{"watch --kubeconfig " + config + " --context no", `there is no context "no"; there are: threelaws`},
		{"watch --kubeconfig " + config + " --kinds podz", "there is no kind podz that can be listed and watched; " +
			"did you mean pods?"},
		{"watch --kubeconfig " + config + " --once --for 1m", "exclude each other"},
		{"watch --kubeconfig " + config + " --output xml", "xml is not one of its values"},
		{"watch --kubeconfig " + config + " --patience 0s", "are times, as 30s"},
		{"watch --kubeconfig " + config + " --record /no/such/file", "--record: open /no/such/file"},
		{"watch --kubeconfig " + config + " --record " + config, "exists, and is not overwritten"},
		{"watch more", "watch takes no arguments"},
	} {
		typed(t, c.args).wants(t, 2, c.want)
	}
}

// The role in docs/use/watch.md allows only list and watch, and watch needs no more.
func TestWatchRole(t *testing.T) {
	page := read(t, "../docs/use/watch.md")
	_, manifest, _ := strings.Cut(string(page), "```yaml\n")
	manifest, _, _ = strings.Cut(manifest, "```")
	s, _ := serveWith(t)
	var role rbacv1.ClusterRole
	for doc := range strings.SplitSeq(manifest, "---\n") {
		var head struct{ Kind string }
		must(t, yaml.Unmarshal([]byte(doc), &head))
		s.send(t, "POST", map[string]string{"Namespace": "/api/v1/namespaces",
			"ServiceAccount":     "/api/v1/namespaces/threelaws/serviceaccounts",
			"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
			"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"}[head.Kind], doc)
		if head.Kind == "ClusterRole" {
			must(t, yaml.Unmarshal([]byte(doc), &role))
		}
	}
	for _, r := range role.Rules {
		if slices.ContainsFunc(r.Verbs, func(v string) bool { return v != "list" && v != "watch" }) ||
			slices.Contains(r.Resources, "secrets") {
			t.Errorf("the role allows %v of %v", r.Verbs, r.Resources)
		}
	}
	to, _ := url.Parse(s.url)
	proxy := httputil.NewSingleHostReverseProxy(to)
	asked := 0
	guard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = to.Host
		group, resource := objects(r.URL.Path)
		if resource != "" {
			asked++
		}
		if r.Method != http.MethodGet || resource != "" && !allows(&role, group, resource) {
			http.Error(w, "the role does not allow it", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer guard.Close()
	config := filepath.Join(t.TempDir(), "config")
	write(t, config, kubeconfig(guard.URL, nil))
	got := typed(t, "watch --once --kubeconfig "+config)
	if got.code != 0 || got.err != "" || asked < 40 {
		t.Errorf("exit %d, asked %d times\n%s%s", got.code, asked, got.out, got.err)
	}
	got = typed(t, "watch --once --kinds secrets,pods --kubeconfig "+config)
	got.wants(t, 0, "not watched: secrets: ")
}

// objects returns the group and resource that a path lists, or "" for another path.
func objects(path string) (group, resource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		return "", parts[2]
	case parts[0] == "apis" && len(parts) > 3:
		return parts[1], parts[3]
	}
	return "", ""
}

func allows(role *rbacv1.ClusterRole, group, resource string) bool {
	return slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) &&
			(slices.Contains(r.Resources, "*") || slices.Contains(r.Resources, resource))
	})
}
