package cli

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// replicas is the user agent of a program that creates pods for ReplicaSets.
const replicas = "my-replicas"

// owner creates a ReplicaSet as a user would, and returns a pod that it owns.
func (s *served) owner(t *testing.T, name string, count int) (pod string) {
	t.Helper()
	uid := s.send(t, "POST", setsPath, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d,"selector":{
		"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[
		{"name":"c","image":"i"}]}}}}`, name, count))
	return fmt.Sprintf(`{"metadata":{"generateName":"%s-","labels":{"app":%[1]q},"ownerReferences":[{
		"apiVersion":"apps/v1","kind":"ReplicaSet","name":%[1]q,"uid":%q,"controller":true}]},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
		name, uid)
}

// careful creates the pods of a ReplicaSet, and lists the existing pods before each creation.
func (s *served) careful(t *testing.T, name string, count int) {
	pod := s.owner(t, name, count)
	for range 50 {
		list := s.call(t, replicas, "GET", podsPath, "")
		if !list.ok() {
			continue
		}
		if strings.Count(list.body, `"generateName":"`+name+`-"`) >= count {
			return
		}
		s.call(t, replicas, "POST", podsPath, pod)
	}
	t.Errorf("%s does not get %d pods", name, count)
}

// A program that creates one pod too many is not reported if the response to its first creation was lost, because it
// knows only one pod. If it got that response, it is reported.
func TestServeKnowsTheAnswers(t *testing.T) {
	for fault, named := range map[string]bool{"fail my-replicas create pod with=lost": false,
		"fail my-replicas get pod with=lost": true} {
		s := startServe(t, "--programs", "my-replicas=replicaset", "--fault", fault)
		pod := s.owner(t, "web", 1)
		s.call(t, replicas, "POST", podsPath, pod)
		s.call(t, replicas, "POST", podsPath, pod)
		if _, stderr := s.stop(); strings.Contains(stderr, "VIOLATES never-too-many by my-replicas") != named {
			t.Errorf("%s: my-replicas is reported: %t, want %t:\n%s", fault, !named, named, stderr)
		}
	}
}

// A program that creates owned objects and is not judged is reported once, with the flag that judges it. Tools that
// users run are not reported. A judged program counts as the controller of its kind.
func TestServeNamesUnjudgedPrograms(t *testing.T) {
	for _, args := range [][]string{nil, {"--controllers", "replicaset"}, {"--programs", "my-replicas=replicaset"}} {
		s := startServe(t, args...)
		pod := s.owner(t, "web", 2)
		for _, agent := range []string{replicas, replicas, "kubectl"} {
			if got := s.call(t, agent, "POST", podsPath, pod); !got.ok() {
				t.Fatal(got)
			}
		}
		_, stderr := s.stop()
		want := 1
		if len(args) > 0 && args[0] == "--programs" {
			want = 0
		}
		if strings.Count(stderr, "my-replicas creates owned objects and is not judged: --programs my-replicas=CONTROLLER ") != want ||
			strings.Count(stderr, "is not judged") != want ||
			strings.Contains(stderr, "replicaset default/web is created, and no") != (args == nil) {
			t.Errorf("%q: my-replicas is not named %d times, or a warning is wrong:\n%s", args, want, stderr)
		}
	}
}

// A careless program creates a pod again if it gets no answer. It is reported if a fault hit it.
func TestServeJudgesProgramsUnderFaults(t *testing.T) {
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
		pod := s.owner(t, "web", 1)
		if !s.call(t, replicas, "POST", podsPath, pod).ok() { // its client and its queue both try again
			s.call(t, replicas, "POST", podsPath, pod)
			s.call(t, replicas, "POST", podsPath, pod)
		}
		code, stderr := s.stop()
		const says = "VIOLATES never-too-many by my-replicas: pod/web-"
		if got := strings.Count(stderr, says) == 1; got != c.named || code != 0 {
			t.Errorf("%s: my-replicas is reported: %t, want %t, exit code %d:\n%s", c.fault, got, c.named, code, stderr)
		}
		want := "fault: create pods default/web- of my-replicas is "
		if !c.named {
			want = "fault never struck: fail other create pods nth=1 with=lost\n"
		}
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is missing:\n%s", want, stderr)
		}
	}
}

// A careful program is not reported under any fault.
func TestServeNamesNoCarefulProgram(t *testing.T) {
	s := startServe(t, "--programs", "my-replicas=replicaset")
	for i, line := range []string{"fail my-* create pod nth=2 with=lost", "fail my-* create pod with=timeout",
		"fail my-* write pod with=409", "fail my-* create pod with=429", "fail my-* create pod with=500",
		"fail my-* create pod with=503", "fail my-* create pod nth=3 with=504", "fail my-* list pod nth=2 with=500",
		"delay my-* create pod by=20ms", "hold my-* sees=Pod", "relist my-* Pod"} {
		if got := s.call(t, "curl", "POST", faultsPath, line); !got.ok() {
			t.Fatalf("%s: %+v", line, got)
		}
		s.careful(t, fmt.Sprintf("web%d", i), 3)
	}
	if _, stderr := s.stop(); strings.Contains(stderr, "VIOLATES") || strings.Count(stderr, "fault: ") != 9 {
		t.Errorf("my-replicas is reported, or a fault has not struck:\n%s", stderr)
	}
}

// The command faults lists, adds, releases and removes faults of a running server.
func TestFaultsCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faults")
	write(t, file, "# at first\n\nhold op sees=Pod\n")
	s := startServe(t, "--faults", file)
	for _, c := range []struct {
		args string
		code int
		out  string
	}{
		{"", 0, "  1  hold op sees=pods  (never struck)\n"},
		{"fail op get node with=500|delay op list node by=1ms", 0, "  2  fail op get nodes nth=1 with=500  " +
			"(never struck)\n  3  delay op list nodes nth=1 by=1ms  (never struck)\n"},
		{"relist op Pod|hold op sees=Pdo", 2, `line 2: hold: the kind "Pdo" is not served; did you mean Pod?`},
		{"release op", 0, "  1  hold op sees=pods  (never struck)\n"},
		{"--remove=3", 0, "  3  delay op list nodes nth=1 by=1ms  (never struck)\n"},
		{"--remove=3", 2, "there is no fault 3"},
		{"--remove=3|--clear", 2, "exclude each other"},
		{"", 0, "  2  fail op get nodes nth=1 with=500  (never struck)\n"},
		{"--json", 0, `"line": "fail op get nodes nth=1 with=500"`},
		{"--clear", 0, "  2  fail op get nodes nth=1 with=500  (never struck)\n"},
	} {
		args := []string{"faults", "--server", s.url}
		if c.args != "" {
			args = append(args, strings.Split(c.args, "|")...)
		}
		cli(t, args...).wants(t, c.code, c.out)
	}
	if got := cli(t, "faults", "--server", s.url); got != (outcomeOf{}) {
		t.Errorf("there are faults left: %+v", got)
	}
	for _, server := range []string{"", "127.0.0.1:1", "https://127.0.0.1:1"} {
		cli(t, "faults", "--server", server).wants(t, 2, "--server must be given")
	}
}

// Web pages of another origin and programs on another machine must not use the path of faults.
func TestFaultsAreLocal(t *testing.T) {
	s := startServe(t)
	for _, c := range []struct {
		header, value, method, path string
		code                        int
	}{
		{"Origin", "http://evil.example", "POST", faultsPath, 403},
		{"Sec-Fetch-Site", "cross-site", "GET", faultsPath, 403},
		{"Origin", s.url, "POST", faultsPath, 200},
		{"Sec-Fetch-Site", "none", "GET", faultsPath, 200},
		{"X", "y", "PUT", faultsPath, 405},
		{"X", "y", "GET", faultsPath + "/1", 404},
		{"X", "y", "DELETE", faultsPath + "/x", 404},
		{"X", "y", "GET", faultsPath + "x", 404},
	} {
		req, err := http.NewRequest(c.method, s.url+c.path, strings.NewReader("hold op sees=Pod"))
		must(t, err)
		req.Header.Set(c.header, c.value)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != c.code {
			t.Errorf("%+v: %d", c, resp.StatusCode)
		}
	}
	abroad := &http.Request{RemoteAddr: "192.0.2.7:4711", Host: "127.0.0.1"}
	if foreign(abroad) == "" {
		t.Error("a program of another machine may use it")
	}
}
