package cli

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// banner is what serve prints before it serves.
func banner(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: w, Err: io.Discard}.Run(ctx,
			append([]string{"serve"}, args...))
		w.Close()
		close(done)
	}()
	buf := make([]byte, 4096)
	var text string
	for !strings.Contains(text, "\nno controller runs for") && !strings.HasSuffix(text, "kubelet\n") {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err, text)
		}
		text += string(buf[:n])
	}
	cancel()
	go io.Copy(io.Discard, r)
	<-done
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// The banner names the controllers that run, and the kinds whose controllers do not.
func TestServeBanner(t *testing.T) {
	for args, want := range map[string]string{
		"--controllers replicaset,gc,kubelet,namespace": inRealTime +
			"\ncontrollers: replicaset, garbagecollector, kubelet, " +
			"namespace\nno controller runs for: cronjobs (cronjob), daemonsets (daemonset), deployments " +
			"(deployment), jobs (job), persistentvolumeclaims (persistentvolumeclaim-protection), " +
			"poddisruptionbudgets (disruption), replicationcontrollers (replication), resourcequotas " +
			"(resourcequota), services (endpointslice), statefulsets (statefulset)\n",
		"": inRealTime + "\ncontrollers: none\n" +
			"no controller runs for: cronjobs (cronjob), daemonsets (daemonset), deployments " +
			"(deployment), jobs (job), namespaces (namespace), persistentvolumeclaims " +
			"(persistentvolumeclaim-protection), poddisruptionbudgets (disruption), pods (kubelet), replicasets " +
			"(replicaset), replicationcontrollers (replication), resourcequotas (resourcequota), services " +
			"(endpointslice), statefulsets (statefulset)\n",
	} {
		if got := banner(t, strings.Fields(args)...); got != want {
			t.Errorf("serve %s says\n%swant\n%s", args, got, want)
		}
	}
	if got := banner(t, "--controllers", "all"); strings.Contains(got, "no controller") {
		t.Errorf("with all controllers there is one for every kind: %s", got)
	}
}

// Who creates an object that no controller here acts on is warned each time, and the log
// says so once of each kind; a Pod comes without a warning.
func TestServeTellsWhatNobodyActsOn(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset")
	const pods = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
		`"spec":{"containers":[{"name":"c","image":"i"}]}}`
	apps := "/apis/apps/v1/namespaces/default/"
	const lacking = `299 - "no deployment controller runs in this server: nothing acts on it"`
	for _, c := range []struct{ path, name, spec, want string }{
		{apps + "deployments", "one", pods, lacking},
		{apps + "deployments", "two", pods, lacking},
		{apps + "replicasets", "three", `"replicas":0,` + pods, ""},
		{"/api/v1/namespaces/default/pods", "four", `"containers":[{"name":"c","image":"i"}]`, ""},
	} {
		got := s.post(t, c.path, `{"metadata":{"name":"`+c.name+`"},"spec":{`+c.spec+`}}`)
		if want := strings.Fields(c.want); got.code != 201 || strings.Join(got.warnings, "") != c.want {
			t.Errorf("%s: %d %s, warnings %q, want %q", c.name, got.code, got.body, got.warnings, want)
		}
	}
	const want = "deployment default/one is created, and no deployment controller runs in this server: nothing acts " +
		"on it\n"
	if _, stderr := s.stop(); stderr != want {
		t.Errorf("the log is %q, want %q", stderr, want)
	}
}

// With -v there is a line for each request.
func TestServeLogsRequests(t *testing.T) {
	s := startServe(t, "-v", "--start", "none")
	s.post(t, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	s.post(t, "/api/v1/namespaces/default/configmaps?dryRun=All", `{`)
	s.get(t, "/api/v1/configmaps?limit=5")
	s.get(t, "/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=1")
	s.get(t, "/api/v1/namespaces/default/configmaps/b")
	s.get(t, "/version")
	_, stderr := s.stop()
	took := regexp.MustCompile(`(?m) [0-9.µnm]+s$`)
	const agent = ` admin "Go-http-client/1.1" `
	want := "CREATE /api/v1/namespaces/default/configmaps" + agent + "201\n" +
		"CREATE /api/v1/namespaces/default/configmaps?dryRun=All" + agent + "400\n" +
		"LIST /api/v1/configmaps?limit=5" + agent + "200\n" +
		"WATCH /api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=1" + agent + "200\n" +
		"GET /api/v1/namespaces/default/configmaps/b" + agent + "404\n" +
		"GET /version" + agent + "200\n"
	if got := took.ReplaceAllString(stderr, ""); got != want || len(took.FindAllString(stderr, -1)) != 6 {
		t.Errorf("the log is\n%s", stderr)
	}
}

// A server begins with what a real one has when it is new, as old as itself, or with what
// is asked for.
func TestServeStart(t *testing.T) {
	for _, c := range []struct {
		start string
		want  []string
	}{
		{"", []string{"namespace/default", "namespace/kube-node-lease", "namespace/kube-public",
			"namespace/kube-system",
			"service/kubernetes",
			"priorityclass/system-cluster-critical", "priorityclass/system-node-critical",
			"serviceaccount/default", "serviceaccount/default", "serviceaccount/default", "serviceaccount/default"}},
		{"none", []string{"namespace/default", "namespace/kube-system"}},
		{"service", []string{"namespace/default", "namespace/kube-system", "service/kubernetes"}},
	} {
		o := serving{start: startWords(), realtime: true}
		if c.start != "" {
			o.start = strings.Split(c.start, ",")
		}
		s, err := openSite(&o, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		s.handler.With(func(server *fakeapi.Server) {
			for _, name := range []string{"namespace", "service", "priorityclass", "serviceaccount"} {
				have = append(have, objectsOf(t, server, name)...)
			}
		})
		if !slices.Equal(have, c.want) {
			t.Errorf("--start=%s: %q, want %q", c.start, have, c.want)
		}
	}
	if _, err := startOf([]string{"servis"}, time.Now()); err == nil ||
		!strings.Contains(err.Error(), "did you mean service?") {
		t.Errorf("a typing error: %v", err)
	}
}

// objectsOf lists what a server has of a kind, and wants it to be new.
func objectsOf(t *testing.T, server *fakeapi.Server, kind string) (list []string) {
	server.Each(server.KindNamed(kind), func(obj runtime.Object) bool {
		m := obj.(metav1.Object)
		list = append(list, kind+"/"+m.GetName())
		if age := time.Since(m.GetCreationTimestamp().Time); age < 0 || age > time.Hour {
			t.Errorf("%s is %v old", m.GetName(), age)
		}
		return true
	})
	return list
}
