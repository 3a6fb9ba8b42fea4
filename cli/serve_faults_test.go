package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios/builtin"
)

// outside is a program that uses a server as one in another process does: over connections,
// under a user agent of its own.
type outside struct {
	t     *testing.T
	url   string
	agent string
}

const (
	setsPath = "/apis/apps/v1/namespaces/default/replicasets"
	podsPath = "/api/v1/namespaces/default/pods"
)

// call sends a request. Ok says that it was answered, and well.
func (p *outside) call(method, path, body string) (text string, ok bool) {
	p.t.Helper()
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("User-Agent", p.agent+"/v1.0 (linux/amd64)")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err == nil && resp.StatusCode < 300
}

var uidOfSet = regexp.MustCompile(`"uid":"([^"]+)"`)

// owner creates a ReplicaSet as a user, and returns what is a pod of it.
func (p *outside) owner(name string, replicas int) (pod string) {
	p.t.Helper()
	user := outside{p.t, p.url, "kubectl"}
	text, ok := user.call("POST", setsPath, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d,"selector":{
		"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[
		{"name":"c","image":"i"}]}}}}`, name, replicas))
	uid := uidOfSet.FindStringSubmatch(text)
	if !ok || uid == nil {
		p.t.Fatal(text)
	}
	return fmt.Sprintf(`{"metadata":{"generateName":"%s-","labels":{"app":%[1]q},"ownerReferences":[{
		"apiVersion":"apps/v1","kind":"ReplicaSet","name":%[1]q,"uid":%q,"controller":true}]},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
		name, uid[1])
}

// careless makes the pod that an owner asks for. Where that fails both its client and its queue
// try again, and neither looks whether it was done.
func (p *outside) careless(name string) {
	pod := p.owner(name, 1)
	if _, ok := p.call("POST", podsPath, pod); !ok {
		p.call("POST", podsPath, pod)
		p.call("POST", podsPath, pod)
	}
}

// careful makes the pods that an owner asks for, and looks which there are before each.
func (p *outside) careful(name string, replicas int) {
	pod := p.owner(name, replicas)
	for range 50 {
		text, ok := p.call("GET", podsPath, "")
		if !ok {
			continue
		}
		if strings.Count(text, `"generateName":"`+name+`-"`) >= replicas {
			return
		}
		p.call("POST", podsPath, pod)
	}
	p.t.Errorf("%s has not come to have %d pods", name, replicas)
}

// Who was not answered and tries once more is not named: it is told of one pod only, as it is in
// simulations. Whoever is answered knows.
func TestServeKnowsWhoWasAnswered(t *testing.T) {
	for fault, named := range map[string]bool{"fail my-replicas create pod with=lost": false,
		"fail my-replicas get pod with=lost": true} {
		s := startServe(t, "--programs", "my-replicas=replicaset", "--fault", fault)
		p := &outside{t, s.url, "my-replicas"}
		pod := p.owner("web", 1)
		p.call("POST", podsPath, pod)
		p.call("POST", podsPath, pod)
		if _, stderr := s.stop(); strings.Contains(stderr, "VIOLATES never-too-many by my-replicas") != named {
			t.Errorf("%s: named %t, want %t:\n%s", fault, !named, named, stderr)
		}
	}
}

// A program that creates what somebody owns, and is not judged, is named once, and how to have it judged. Who works by
// hand is not.
func TestServeNamesUnjudgedPrograms(t *testing.T) {
	for _, args := range [][]string{nil, {"--controllers", "replicaset"}, {"--programs", "my-replicas=replicaset"}} {
		s := startServe(t, args...)
		pod := (&outside{t, s.url, ""}).owner("web", 2)
		for _, agent := range []string{"my-replicas", "my-replicas", "kubectl"} {
			if text, ok := (&outside{t, s.url, agent}).call("POST", podsPath, pod); !ok {
				t.Fatal(text)
			}
		}
		_, stderr := s.stop()
		want := 1
		if len(args) > 0 && args[0] == "--programs" {
			want = 0
		}
		if strings.Count(stderr, "my-replicas creates owned objects and is not judged: --programs my-replicas=CONTROLLER ") != want ||
			strings.Count(stderr, "is not judged") != want {
			t.Errorf("%q: it is not named %d times:\n%s", args, want, stderr)
		}
	}
}

// Who makes a second pod after the answer to the first was lost is named under that fault, and
// only then.
func TestServeJudgesOthersUnderFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		named bool
	}{
		{"fail other create pod with=lost", false},
		{"fail my-replicas create pod with=lost", true},
		{"fail my-replicas create pod with=timeout", true},
		{"fail my-replicas create pod with=500", true},
	} {
		s := startServe(t, "--programs", "my-replicas=replicaset", "--fault", c.fault)
		p := &outside{t, s.url, "my-replicas"}
		p.careless("web")
		code, stderr := s.stop()
		const says = "VIOLATES never-too-many by my-replicas: pod/web-"
		if got := strings.Count(stderr, says) == 1; got != c.named || code != 0 {
			t.Errorf("%s: named %t, want %t, exit code %d:\n%s", c.fault, got, c.named, code, stderr)
		}
		if !c.named && !strings.Contains(stderr, "fault never struck: fail other create pods nth=1 with=lost\n") {
			t.Errorf("what never struck is not told:\n%s", stderr)
		}
		if c.named && !strings.Contains(stderr, "fault: create pods default/web- of my-replicas is ") {
			t.Errorf("the fault is not told:\n%s", stderr)
		}
	}
}

// Who looks before it acts is accused under no fault.
func TestServeAccusesNoneUnderFaults(t *testing.T) {
	s := startServe(t, "--programs", "my-replicas=replicaset")
	p := &outside{t, s.url, "my-replicas"}
	faults := &outside{t, s.url, "curl"}
	for i, line := range []string{"fail my-* create pod nth=2 with=lost", "fail my-* create pod with=timeout",
		"fail my-* write pod with=409", "fail my-* create pod with=429", "fail my-* create pod with=500",
		"fail my-* create pod with=503", "fail my-* create pod nth=3 with=504", "fail my-* list pod nth=2 with=500",
		"delay my-* create pod by=20ms", "hold my-* sees=Pod", "relist my-* Pod"} {
		if text, ok := faults.call("POST", faultsPath, line); !ok {
			t.Fatalf("%s: %s", line, text)
		}
		p.careful(fmt.Sprintf("web%d", i), 3)
	}
	if _, stderr := s.stop(); strings.Contains(stderr, "VIOLATES") || strings.Count(stderr, "fault: ") != 9 {
		t.Errorf("accused, or a fault has not struck:\n%s", stderr)
	}
}

// faultsRun runs the command faults.
func faultsRun(args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	c := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &out, Err: &err}
	code = c.Run(context.Background(), append([]string{"faults"}, args...))
	return code, out.String(), err.String()
}

// Faults are listed, asked for, released and removed while the server runs.
func TestFaultsCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(file, []byte("# at first\n\nhold op sees=Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--faults", file)
	for _, c := range []struct{ args, code, out string }{
		{"", "0", "  1  hold op sees=pods  (never struck)\n"},
		{"fail op get node with=500|delay op list node by=1ms", "0", "  2  fail op get nodes nth=1 with=500  " +
			"(never struck)\n  3  delay op list nodes nth=1 by=1ms  (never struck)\n"},
		{"relist op Pod|hold op sees=Pdo", "2", `line 2: hold: the kind "Pdo" is not served; did you mean Pod?`},
		{"release op", "0", "  1  hold op sees=pods  (never struck)\n"},
		{"--remove=3", "0", "  3  delay op list nodes nth=1 by=1ms  (never struck)\n"},
		{"--remove=3", "2", "there is no fault 3"},
		{"--remove=3|--clear", "2", "it is one of them"},
		{"", "0", "  2  fail op get nodes nth=1 with=500  (never struck)\n"},
		{"--json", "0", `"line": "fail op get nodes nth=1 with=500"`},
		{"--clear", "0", "  2  fail op get nodes nth=1 with=500  (never struck)\n"},
		{"", "0", ""},
	} {
		args := []string{"--server", s.url}
		if c.args != "" {
			args = append(args, strings.Split(c.args, "|")...)
		}
		code, out, stderr := faultsRun(args...)
		if fmt.Sprint(code) != c.code || !strings.Contains(out+stderr, c.out) || c.out == "" && out != "" {
			t.Errorf("faults %s: exit code %d, %q %q; want %s, %q", c.args, code, out, stderr, c.code, c.out)
		}
	}
	for _, server := range []string{"", "127.0.0.1:1", "https://127.0.0.1:1"} {
		if code, _, stderr := faultsRun("--server", server); code != 2 ||
			!strings.Contains(stderr, "--server must be given") {
			t.Errorf("--server %q: exit code %d, %s", server, code, stderr)
		}
	}
}

// Pages of other origins, and programs of other machines, ask for no faults; nothing else is
// where they are asked for.
func TestFaultsAreAskedForAtHome(t *testing.T) {
	s := startServe(t)
	for _, c := range []struct {
		header, value, method, path string
		code                        int
	}{
		{"Origin", "http://evil.example", "POST", faultsPath, 403},
		{"Sec-Fetch-Site", "cross-site", "GET", faultsPath, 403},
		{"Origin", s.url, "POST", faultsPath, 200},
		{"Sec-Fetch-Site", "none", "GET", faultsPath, 200},
		{"", "", "PUT", faultsPath, 405},
		{"", "", "GET", faultsPath + "/1", 404},
		{"", "", "DELETE", faultsPath + "/x", 404},
		{"", "", "GET", faultsPath + "x", 404},
	} {
		req, err := http.NewRequest(c.method, s.url+c.path, strings.NewReader("hold op sees=Pod"))
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			req.Header.Set(c.header, c.value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.code {
			t.Errorf("%s %s with %s %s: %d, want %d", c.method, c.path, c.header, c.value, resp.StatusCode, c.code)
		}
	}
	abroad := &http.Request{RemoteAddr: "192.0.2.7:4711", Host: "127.0.0.1"}
	if foreign(abroad) == "" {
		t.Error("a program of another machine asks for faults")
	}
}

// Mistakes in lines, files and programs are told where they are.
func TestServeFaultsUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("# one\nhold op sees=Pod\nhodl op sees=Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--fault", "fail op craete pod with=500"},
			"--fault: fail: unknown API verb craete; did you mean create?"},
		{[]string{"--faults", bad}, "bad:3: unknown fault hodl; did you mean hold?"},
		{[]string{"--faults", bad + "x"}, "badx: "},
		{[]string{"--faults", t.TempDir()}, "cannot be read: is a directory\n"},
		{[]string{"--programs", "user=job"}, "user is what the server calls whoever has no user agent"},
		{[]string{"--programs", "job=job", "--controllers", "job"}, "job is a controller that the server runs"},
		{[]string{"--programs", "my-op"}, "--programs: my-op is no NAME=CONTROLLER"},
		{[]string{"--programs", "my-op=replicasett"}, "did you mean replicaset?"},
		{[]string{"--programs", "my-op=gc"}, "gc is not one controller that syncs a kind"},
		{[]string{"--programs", "a=job,a=job"}, "a is named twice"},
	} {
		var out, stderr strings.Builder
		a := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &out, Err: &stderr}
		if code := a.Run(t.Context(), append([]string{"serve"}, c.args...)); code != 2 ||
			!strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: exit code %d, %q, want %q", c.args, code, stderr.String(), c.want)
		}
	}
}

// A kind whose work a program does is not one that nobody acts on.
func TestServeKnowsWhoseWorkIsDone(t *testing.T) {
	for _, args := range [][]string{{"--programs", "my-replicas=replicaset"}, nil} {
		s := startServe(t, args...)
		p := &outside{t, s.url, "kubectl"}
		p.owner("web", 1)
		_, stderr := s.stop()
		if warned := strings.Contains(stderr, "replicaset default/web is created, and no"); warned != (args == nil) {
			t.Errorf("%q: %s", args, stderr)
		}
	}
}
