package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// newProgram writes a module with a program, and a sample, into a new working directory.
func newProgram(t *testing.T, main string) {
	t.Helper()
	newChecked(t, host.Controller{})
	write(t, "go.mod", "module example.com/operator\n\ngo 1.25\n")
	write(t, "main.go", main)
}

// A program finds the files of its repository by a relative path, and by the absolute path that it makes of that path.
// A volume that shows no Secret and no ConfigMap is an empty folder of the program. The directory of its process is not
// visible in its output.
func TestCheckGivesFilesAndFolders(t *testing.T) {
	newProgram(t, `package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	err := os.WriteFile("/data/file", nil, 0o600)
	for _, path := range []string{"/data/file", "config/default/manager.yaml", abs("config/default/manager.yaml")} {
		if err == nil {
			_, err = os.Stat(path)
		}
	}
	for _, path := range []string{"/data", "config/default", abs("config/default")} {
		if err == nil {
			_, err = os.ReadDir(path)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println("all is there, below", abs("config"))
	for {
		time.Sleep(time.Hour)
	}
}

func abs(path string) string {
	path, _ = filepath.Abs(path)
	return path
}
`)
	write(t, "config/default/kustomization.yaml", "resources: [manager.yaml]\n")
	write(t, "config/default/manager.yaml", `apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: default}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      containers:
      - name: manager
        image: operator
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`)
	Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml").wants(t, scenarios.ExitUsage,
		"operator has written nothing", "the last lines that it printed: all is there, below /config")
}

// If an operator exits before main begins, check prints what it printed.
func TestCheckExitsBeforeMain(t *testing.T) {
	newProgram(t, `package main

import (
	"fmt"
	"os"
)

func init() {
	fmt.Fprintln(os.Stderr, "set ZONE")
	os.Exit(2)
}

func main() {}
`)
	Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml").wants(t, scenarios.ExitUsage,
		"operator has written nothing", "the last lines that it printed: set ZONE")
}

// A program that panics because of its sample violates a law, also if it has written nothing before.
func TestCheckDiesOfItsSample(t *testing.T) {
	newProgram(t, `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type list struct{ Items []struct{ Spec struct{ Paused *bool } } }

func main() {
	for {
		time.Sleep(time.Minute)
		answer, err := http.Get("http://kubernetes.default.svc/apis/apps/v1/namespaces/default/replicasets")
		if err != nil {
			fmt.Println(err)
			continue
		}
		var all list
		err = json.NewDecoder(answer.Body).Decode(&all)
		answer.Body.Close()
		for _, set := range all.Items {
			fmt.Println(err, *set.Spec.Paused)
		}
	}
}
`)
	got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "-n", "2")
	got.wants(t, scenarios.ExitFail, "never-panic", "nil pointer dereference, at ", "/main.go:24\n", "kept as testdata/threelaws/")
}

// If the operator never stops writing, its last error is printed, because the cause may be something that it lacks.
func TestCheckUnsettledSaysWhy(t *testing.T) {
	newProgram(t, `package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func main() {
	for n := 0; ; n++ {
		body := fmt.Sprintf("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%d\"}}", n)
		r, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && r.StatusCode == http.StatusOK {
			http.Post("http://apiserver/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(body))
		}
		fmt.Println("ERROR no cloud")
		time.Sleep(time.Second)
	}
}
`)
	got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "--case", "one-owner", "-n", "1")
	if !strings.Contains(got.out, "so no other facts were derived; the last error that it logged: ERROR no cloud") {
		t.Errorf("the error is missing:\n%s%s", got.out, got.err)
	}
}

// A program that hangs in its first quiet run is not run again to derive facts. Only the case with one owner is explored.
func TestCheckHangs(t *testing.T) {
	newProgram(t, `package main

import (
	"net/http"
	"strings"
	"time"
)

func main() {
	for {
		set, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && set.StatusCode == http.StatusOK {
			req, _ := http.NewRequest("PATCH", "http://apiserver/apis/apps/v1/namespaces/default/replicasets/web",
				strings.NewReader("{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}"))
			req.Header.Set("Content-Type", "application/merge-patch+json")
			http.DefaultClient.Do(req)
			for {
			}
		}
		time.Sleep(time.Second)
	}
}
`)
	Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "-n", "1").wants(t, scenarios.ExitFail,
		"it ends with its sample alone, so no other facts were derived: endless loop: a goroutine never waits, at",
		"one-owner              violated: never-panic: endless loop", "skipped cases\n  it ends with its sample alone: ")
}

// The seed of a program's first life is a choice of the schedule. Random values that a program writes may differ from those
// of a quiet run, and a bug that one order of a map shows is found without a crash.
func TestCheckExploresSeeds(t *testing.T) {
	for _, violated := range []bool{false, true} {
		newProgram(t, fmt.Sprintf(`package main

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"
)

func main() {
	value := make([]byte, 4)
	rand.Read(value)
	first := ""
	for first = range map[string]int{"a": 0, "b": 0, "c": 0, "d": 0, "e": 0, "f": 0, "g": 0, "h": 0} {
		break
	}
	for {
		set, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && set.StatusCode == http.StatusOK {
			req, _ := http.NewRequest("PATCH", "http://apiserver/apis/apps/v1/namespaces/default/replicasets/web",
				strings.NewReader(fmt.Sprintf("{\"metadata\":{\"labels\":{\"random\":\"v%%x\"}}}", value)))
			req.Header.Set("Content-Type", "application/merge-patch+json")
			http.DefaultClient.Do(req)
			if %t && first == "h" {
				panic("h is the first")
			}
			time.Sleep(10000 * time.Hour)
		}
		time.Sleep(time.Second)
	}
}
`, violated))
		got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "--case", "one-owner", "-n", "40")
		if strings.Contains(got.out, "same-end: ") || strings.Contains(got.out, "never-panic: h is the first") != violated {
			t.Errorf("%s%s", got.out, got.err)
		}
	}
}

// If a creation is refused in each retry, but the program prints another error, then this other error causes the retries.
// The operator settles, and its profile shows the error. If the program prints the refusal, it does not settle. The profile
// also names the program that it could not start.
func TestCheckRetries(t *testing.T) {
	for printed, settles := range map[string]bool{"`ERROR no such architecture`": true, "`ERROR ` + string(answer)": false} {
		newProgram(t, `package main

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

func main() {
	go func() {
		for range time.Tick(time.Minute) { // like a leader that renews its Lease
			http.Get("http://apiserver/api/v1/namespaces/default")
		}
	}()
	wait := time.Second
	for {
		set, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && set.StatusCode == http.StatusOK {
			body := "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"}}"
			made, _ := http.Post("http://apiserver/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(body))
			answer, _ := io.ReadAll(made.Body)
			fmt.Println(`+printed+`, len(answer))
			fmt.Println("no tool:", exec.Command("/bin/true").Run())
			wait = min(2*wait, 1000*time.Second)
		}
		time.Sleep(wait)
	}
}
`)
		got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "--case", "one-owner", "-n", "1")
		if strings.Contains(got.out, "does not settle") == settles ||
			strings.Contains(got.out, "\n  last error  ERROR no such architecture") != settles ||
			!strings.Contains(got.out, "\n  starts      /bin/true: check refuses to start other programs\n") {
			t.Errorf("the program prints %s:\n%s%s", printed, got.out, got.err)
		}
	}
}

// An object of the operator's installation that the operator changes without a sample is its own, for example a Secret
// for which it makes a certificate.
func TestCheckUpkeep(t *testing.T) {
	newProgram(t, `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const secrets = "http://apiserver/api/v1/namespaces/default/secrets"

func main() {
	cert, _ := http.NewRequest("PATCH", secrets+"/cert", strings.NewReader("{\"stringData\":{\"tls.key\":\"k\"}}"))
	cert.Header.Set("Content-Type", "application/merge-patch+json")
	if _, err := http.DefaultClient.Do(cert); err != nil {
		panic(err)
	}
	for ; ; time.Sleep(time.Minute) {
		var set struct{ Metadata struct{ UID string } }
		r, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && r.StatusCode == http.StatusOK && json.NewDecoder(r.Body).Decode(&set) == nil {
			owner := "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web\",\"controller\":true,\"uid\":\"" + set.Metadata.UID + "\"}"
			body := "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"web\",\"ownerReferences\":[" + owner + "]}}"
			http.Post(secrets, "application/json", strings.NewReader(body))
			fmt.Println("done")
		}
	}
}
`)
	write(t, "config/default/kustomization.yaml", "resources: [secret.yaml]\n")
	write(t, "config/default/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: cert, namespace: default}\n")
	got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "--case", "one-owner", "-n", "1")
	if got.code != 0 || !strings.Contains(got.out, "creates     Secret with a ControllerRef") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}
