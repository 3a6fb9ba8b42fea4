package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// sloppy is somebody's operator: it sees to it that each ReplicaSet owns one
// ConfigMap of its name, and takes the one that is there, whoever owns it.
func sloppy() host.Controller {
	sets, maps := appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("ConfigMap")
	return host.Controller{
		Name: "sloppy", For: sets, Owns: []schema.GroupVersionKind{maps},
		Routes: []host.Route{{Kind: sets, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if o, ok := e.New.(metav1.Object); ok {
				out.Keys = append(out.Keys, o.GetNamespace()+"/"+o.GetName())
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error {
				ns, name, _ := strings.Cut(key, "/")
				owner, err := env.Client.Get(ctx, sets, ns, name)
				if err != nil {
					return nil
				}
				ref := *metav1.NewControllerRef(owner.(metav1.Object), sets)
				old, err := env.Client.Get(ctx, maps, ns, "settings")
				if err != nil {
					_, err = env.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
						Namespace: ns, Name: "settings", OwnerReferences: []metav1.OwnerReference{ref}}})
					return err
				}
				m := old.(*corev1.ConfigMap).DeepCopy()
				if metav1.IsControlledBy(m, owner.(metav1.Object)) {
					return nil
				}
				m.OwnerReferences = []metav1.OwnerReference{ref}
				_, err = env.Client.Update(ctx, m)
				return err
			})
		},
	}
}

const ownWorld = `# Two owners and one dependent.
controllers sloppy
apply world.yaml
settle quiet
scale rs/b replicas=0
settle

-- world.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: a}
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: b}
spec:
  replicas: 1
  selector: {matchLabels: {app: b}}
  template:
    metadata: {labels: {app: b}}
    spec: {containers: [{name: c, image: i}]}
`

// A registry of three lines has all commands with its own controller: a world
// is explored, the failure replays in the same program, and what every world
// needs is there without being named.
func TestOwnController(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("own.txtar", []byte(ownWorld), 0o644); err != nil {
		t.Fatal(err)
	}
	own := func(args ...string) outcomeOf {
		var out, err bytes.Buffer
		c := Command{Registry: &scenarios.Registry{Controllers: []host.Controller{sloppy()}}, Name: "widgetctl",
			Version: "v1.2.3", Out: &out, Err: &err}
		code := c.Run(t.Context(), args)
		return outcomeOf{code, out.String(), err.String()}
	}
	got := own("explore", "-n", "50", "own.txtar")
	if got.code != scenarios.ExitFail || !strings.Contains(got.out, "replay: widgetctl replay ") ||
		!strings.Contains(got.out, "picture: ") {
		t.Fatalf("explore: exit %d\n%s%s", got.code, got.out, got.err)
	}
	files, err := new(shelf).find([]string{failuresDir})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if got := own("replay", f); got.code != scenarios.ExitFail || !strings.Contains(got.out, "reproduced: ") {
			t.Errorf("replay %s: exit %d\n%s%s", f, got.code, got.out, got.err)
		}
		if got := own("run", f); got.code != scenarios.ExitPass {
			t.Errorf("run %s: exit %d\n%s%s", f, got.code, got.out, got.err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"laws never-fight", "NOFIGHT-1  never-fight"},
		{"--version", "widgetctl v1.2.3\n"},
		{"help", "usage: widgetctl COMMAND"},
		{"help explore", "  widgetctl explore -n 2000 FILE"},
	} {
		if got := own(strings.Fields(c.args)...); got.code != scenarios.ExitPass ||
			!strings.Contains(got.out, c.want) || strings.Contains(got.out, "threelaws ") {
			t.Errorf("%s: exit %d\n%s%s", c.args, got.code, got.out, got.err)
		}
	}
}

// A world that does not come to rest is one exit code, explored or not; a
// broken law is another.
func TestUnsettledExit(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("own.txtar", []byte(ownWorld), 0o644); err != nil {
		t.Fatal(err)
	}
	failing := sloppy()
	failing.New = func(*host.Env) host.Reconciler {
		return host.SyncFunc(func(context.Context, string) error { return errors.New("no luck") })
	}
	c := Command{Registry: &scenarios.Registry{Controllers: []host.Controller{failing}}, Name: "widgetctl",
		Out: io.Discard, Err: io.Discard}
	for _, args := range [][]string{{"explore", "-n", "5", "own.txtar"}, {"run", "own.txtar"}} {
		if code := c.Run(t.Context(), args); code != scenarios.ExitNotSettled {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}

// A search that a bound stopped does not say that it covered everything.
func TestBoundedSearchCoversNotEverything(t *testing.T) {
	file, err := filepath.Abs("../scenarios/testdata/overlap/adoption-lost.txtar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		states, want string
		code         int
	}{
		{"5", "not everything was covered (bound of 5 states): ", exitUncovered},
		{"0", "covered everything: ", scenarios.ExitPass},
	} {
		bounded := c.code == exitUncovered
		got := cli(t, "explore", "--strategy", "exhaustive", "--states", c.states, file)
		said := strings.Contains(got.out, "\nno law is broken in what was covered; of the rest nothing is known\n")
		if got.code != c.code || !strings.HasPrefix(got.out, c.want) || said != bounded {
			t.Errorf("--states %s: exit %d\n%s%s", c.states, got.code, got.out, got.err)
		}
	}
}

// A law that says nothing of runs which fight for ever is not kept by them: where
// no schedule comes to its end, the answer is not yes.
func TestNoScheduleComesToItsEnd(t *testing.T) {
	work(t)
	got := cli(t, "explore", "-n", "20", "--era", "selector", "--laws", "GC-1", "testdata/settles.txtar")
	said := strings.Contains(got.out, "no schedule came to its end: ") && strings.Contains(got.out, "20  fights")
	if got.code != scenarios.ExitNotSettled || !said {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	got = typed(t,
		"explore --strategy exhaustive --era selector --laws GC-1 --states 300 testdata/settles.txtar")
	if got.code == scenarios.ExitPass || !strings.HasPrefix(got.out, "not everything was covered") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// What a registry gets wrong is told before anything runs.
func TestBadRegistry(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("own.txtar", []byte(ownWorld), 0o644); err != nil {
		t.Fatal(err)
	}
	unmade, unserved := sloppy(), sloppy()
	unmade.New = nil
	unserved.For = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	for _, x := range []struct {
		controllers []host.Controller
		args, want  string
	}{
		{[]host.Controller{unmade}, "run own.txtar", "controller sloppy: New is nil"},
		{[]host.Controller{sloppy(), sloppy()}, "explore own.txtar", "two controllers are named sloppy"},
		{[]host.Controller{{Name: "a b"}}, "laws", "controller a b: a Name is one word"},
		{[]host.Controller{unserved}, "serve --listen 127.0.0.1:0 --controllers sloppy",
			"sloppy works on Widget of example.com/v1, which is not served: --load a file that holds it"},
	} {
		var stderr bytes.Buffer
		c := Command{Registry: &scenarios.Registry{Controllers: x.controllers}, Name: "widgetctl", Out: io.Discard,
			Err: &stderr}
		if code := c.Run(t.Context(), strings.Fields(x.args)); code != scenarios.ExitUsage ||
			!strings.Contains(stderr.String(), x.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", x.args, code, stderr.String(), x.want)
		}
	}
}
