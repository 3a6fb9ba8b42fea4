package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// The banner names the controllers that run, and the kinds without a controller.
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
		s := startServe(t, strings.Fields(args)...)
		s.stop()
		if _, got, _ := strings.Cut(s.out.String(), "\n"); got != want {
			t.Errorf("serve %s prints\n%swant\n%s", args, got, want)
		}
	}
	s := startServe(t, "--controllers", "all")
	s.stop()
	if strings.Contains(s.out.String(), "no controller") {
		t.Errorf("with all controllers, a kind is listed as having none: %s", &s.out)
	}
}

// Creating an object that no controller handles returns a warning. The log names the first such object of each kind,
// and every object of a kind without behaviour, such as NetworkPolicy. A Pod causes no warning.
func TestServeWarns(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset")
	const pods = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
		`"spec":{"containers":[{"name":"c","image":"i"}]}}`
	const lacking = `299 - "no deployment controller runs in this server: nothing acts on it"`
	const policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
	const stored = `299 - "this server only stores networkpolicies: no traffic is filtered"`
	for _, c := range []struct {
		path, name, spec string
		code             int
		want             string
	}{
		{deploymentsPath, "one", pods, 201, lacking},
		{deploymentsPath, "two", pods, 201, lacking},
		{setsPath, "three", `"replicas":0,` + pods, 201, ""},
		{podsPath, "four", `"containers":[{"name":"c","image":"i"}]`, 201, ""},
		{policies + "?dryRun=All", "closed", `"podSelector":{}`, 201, ""},
		{policies, "closed", `"podSelector":{}`, 201, stored},
		{policies, "closed", `"podSelector":{}`, 409, ""},
	} {
		got := s.post(t, c.path, `{"metadata":{"name":"`+c.name+`"},"spec":{`+c.spec+`}}`)
		if got.code != c.code || strings.Join(got.warnings, "") != c.want {
			t.Errorf("%s: %+v, want %d with warning %q", c.name, got, c.code, c.want)
		}
	}
	const want = "deployment default/one is created, and no deployment controller runs in this server: nothing acts " +
		"on it\nnetworkpolicy default/closed is stored: no traffic is filtered\n"
	if _, stderr := s.stop(); stderr != want {
		t.Errorf("the log is %q, want %q", stderr, want)
	}
}

// With -v the log has a line for each request.
func TestServeLogsRequests(t *testing.T) {
	s := startServe(t, "-v", "--start", "none")
	s.post(t, configsPath, `{"metadata":{"name":"a"}}`)
	s.post(t, configsPath+"?dryRun=All", `{`)
	s.get(t, "/api/v1/configmaps?limit=5")
	s.get(t, "/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=1")
	s.get(t, configsPath+"/b")
	s.get(t, "/version")
	_, stderr := s.stop()
	took := regexp.MustCompile(`(?m) [0-9.µnm]+s$`)
	const agent = ` admin "Go-http-client/1.1" `
	want := "CREATE " + configsPath + agent + "201\n" +
		"CREATE " + configsPath + "?dryRun=All" + agent + "400\n" +
		"LIST /api/v1/configmaps?limit=5" + agent + "200\n" +
		"WATCH /api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=1" + agent + "200\n" +
		"GET " + configsPath + "/b" + agent + "404\n" +
		"GET /version" + agent + "200\n"
	if got := took.ReplaceAllString(stderr, ""); got != want || len(took.FindAllString(stderr, -1)) != 6 {
		t.Errorf("the log is\n%s", stderr)
	}
}

// A new server has the objects of a new real cluster, with current times, or only those that --start selects.
func TestServeStart(t *testing.T) {
	for _, c := range []struct {
		start []string
		want  []string
	}{
		{startWords(), []string{"namespace/default", "namespace/kube-node-lease", "namespace/kube-public",
			"namespace/kube-system", "service/kubernetes",
			"priorityclass/system-cluster-critical", "priorityclass/system-node-critical",
			"serviceaccount/default", "serviceaccount/default", "serviceaccount/default", "serviceaccount/default"}},
		{[]string{"none"}, []string{"namespace/default", "namespace/kube-system"}},
		{[]string{"service"}, []string{"namespace/default", "namespace/kube-system", "service/kubernetes"}},
	} {
		s, err := openSite(&serving{start: c.start, realtime: true}, nil, nil, nil)
		must(t, err)
		var have []string
		s.handler.With(func(server *fakeapi.Server) {
			for _, kind := range []string{"namespace", "service", "priorityclass", "serviceaccount"} {
				server.Each(server.KindNamed(kind), func(obj runtime.Object) bool {
					m := obj.(metav1.Object)
					have = append(have, kind+"/"+m.GetName())
					if age := time.Since(m.GetCreationTimestamp().Time); age < 0 || age > time.Hour {
						t.Errorf("%s is %v old", m.GetName(), age)
					}
					return true
				})
			}
		})
		if !slices.Equal(have, c.want) {
			t.Errorf("--start=%s: %q, want %q", c.start, have, c.want)
		}
	}
}

// part is one message in the feed of a server's page.
type part struct {
	First   int
	Objects []struct{ Name string }
	Lines   []struct{ Who, Verb, Object string }
	Breaks  []struct{ Law, Text string }
}

// parts reads the feed of a server's page until enough accepts a part.
func (s *served) parts(t *testing.T, enough func(part) bool) {
	t.Helper()
	resp, err := http.Get(s.url + "/threelaws/events")
	must(t, err)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the feed is of type %q", got)
	}
	late := time.AfterFunc(20*time.Second, func() { resp.Body.Close() })
	defer late.Stop()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		text, is := strings.CutPrefix(in.Text(), "data: ")
		if !is {
			continue
		}
		var p part
		must(t, json.Unmarshal([]byte(text), &p))
		if enough(p) {
			return
		}
	}
	t.Fatal("the feed ended: ", in.Err())
}

// The page shows the objects, the requests and each violation. It shows clients also if no controller runs.
func TestServePage(t *testing.T) {
	s := startServe(t, "--ui", "--controllers", "replicaset@selector")
	if page := s.get(t, "/threelaws/"); page.code != 200 || !strings.Contains(page.body, `"feed":"/threelaws/events"`) {
		t.Fatalf("the page is answered %d\n%.500s", page.code, page.body)
	}
	s.parts(t, func(p part) bool {
		if len(p.Objects) < 5 || p.First < 5 || p.Objects[0].Name != "ns/default" {
			t.Errorf("the feed begins with %d objects of %v", p.First, p.Objects)
		}
		return true
	})
	s.send(t, "POST", setsPath, "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 1, "+
		"selector: {matchLabels: {app: web}}, "+podTemplate+"}}")
	created := false
	s.parts(t, func(p part) bool {
		for _, l := range p.Lines {
			created = created || l.Who == "rs/a" && l.Verb == "create"
		}
		for _, b := range p.Breaks {
			if b.Law == "take-ownership" && b.Text == "created without a ControllerRef" {
				return created
			}
		}
		return false
	})
	if code, stderr := s.stop(); code != 0 || !strings.Contains(stderr, "VIOLATES take-ownership") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	s = startServe(t, "--ui")
	s.post(t, configsPath, `{"metadata":{"name":"a"}}`)
	s.parts(t, func(p part) bool {
		for _, l := range p.Lines {
			if l.Who == "Go-http-client" && l.Object == "cm/a" {
				return true
			}
		}
		return false
	})
}

// Without --ui there is no page, nor under another host name. An open page does not keep the server from ending.
func TestServePageNeedsFlag(t *testing.T) {
	s := startServe(t)
	if got := s.get(t, "/threelaws/"); got.code != http.StatusNotFound {
		t.Errorf("without --ui the page is answered %d", got.code)
	}
	s = startServe(t, "--ui")
	req, err := http.NewRequest("GET", s.url+"/threelaws/events", nil)
	must(t, err)
	req.Host = "rebound.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusForbidden {
		t.Error("under another name: ", resp, err)
	}
	resp.Body.Close()
	open, err := http.Get(s.url + "/threelaws/events")
	must(t, err)
	defer open.Body.Close()
	began := time.Now()
	if code, stderr := s.stop(); code != 0 || time.Since(began) > 4*time.Second {
		t.Errorf("with a page open it ended after %v with code %d: %s", time.Since(began), code, stderr)
	}
	if _, err := io.Copy(io.Discard, open.Body); err != nil {
		t.Error("the page's feed is broken off: ", err)
	}
}
