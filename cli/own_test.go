package cli

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// sloppy is an operator with a bug: all its ReplicaSets own the same ConfigMap, and each takes it from the last owner.
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
spec: {replicas: 0, selector: {matchLabels: {app: web}}, ` + podTemplate + `}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: b}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, ` + podTemplate + "}\n"

// With a registry of one controller all commands work, under the program's name.
func TestOwnController(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "own.txtar", ownWorld)
	own := Command{Registry: &scenarios.Registry{Controllers: []host.Controller{sloppy()}}, Name: "widgetctl",
		Version: "v1.2.3"}
	own.try(t.Context(), "explore", "-n", "50", "own.txtar").wants(t, scenarios.ExitFail,
		"replay: widgetctl replay ", "picture: ")
	files, err := new(shelf).find([]string{failuresDir})
	must(t, err)
	for _, f := range files {
		own.try(t.Context(), "replay", f).wants(t, scenarios.ExitFail, "reproduced: ")
		own.try(t.Context(), "run", f).wants(t, scenarios.ExitPass)
	}
	for line, want := range map[string]string{"laws never-fight": "NOFIGHT-1  never-fight", "--version": "widgetctl v1.2.3\n",
		"help": "usage: widgetctl COMMAND", "help explore": "  widgetctl explore -n 2000 FILE"} {
		got := own.try(t.Context(), strings.Fields(line)...)
		got.passes(t, want)
		if strings.Contains(got.out, "threelaws ") {
			t.Errorf("%s names another program:\n%s", line, got.out)
		}
	}
}

// A search that --states bounds does not claim that it covered all schedules.
func TestBoundedSearchIsIncomplete(t *testing.T) {
	t.Chdir(t.TempDir())
	const line = "explore --strategy exhaustive overlap/adoption-lost --states "
	typed(t, line+"5").wants(t, exitUncovered, "not everything was covered (bound of 5 states): ",
		"\nno law is violated in the covered part; nothing is known about the rest\n")
	got := typed(t, line+"0")
	got.passes(t, "covered everything: ")
	if strings.Contains(got.out, "nothing is known") {
		t.Error(got.out)
	}
}

// If no schedule settles, explore says so: it cannot check the laws about settled states.
func TestNoScheduleEnds(t *testing.T) {
	work(t)
	typed(t, "explore -n 20 --era selector --laws GC-1 testdata/settles.txtar").wants(t, scenarios.ExitNotSettled,
		"no schedule came to its end: ", "20  fights")
	got := typed(t, "explore --strategy exhaustive --era selector --laws GC-1 --states 300 testdata/settles.txtar")
	if got.code == scenarios.ExitPass || !strings.HasPrefix(got.out, "not everything was covered") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// A mistake in a registry is reported before anything runs.
func TestBadRegistry(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "own.txtar", ownWorld)
	unmade, unserved, panics := sloppy(), sloppy(), sloppy()
	panics.Contract.Replicas = func(runtime.Object) int { panic("oh") }
	unmade.New = nil
	unserved.For = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	for _, x := range []struct {
		controllers []host.Controller
		args, want  string
	}{
		{[]host.Controller{unmade}, "run own.txtar", "controller sloppy: New is nil"},
		{[]host.Controller{sloppy(), sloppy()}, "explore own.txtar", "two controllers are named sloppy"},
		{[]host.Controller{panics}, "run own.txtar", "controller sloppy: Contract.Replicas panics: oh at own_test.go:"},
		{[]host.Controller{panics}, "explore own.txtar", "controller sloppy: Contract.Replicas panics: oh at own_test.go:"},
		{[]host.Controller{{Name: "a b"}}, "laws", "controller a b: a Name is one word"},
		{[]host.Controller{unserved}, "serve --listen 127.0.0.1:0 --controllers sloppy",
			"sloppy works on Widget of example.com/v1, which is not served: --load a file that holds it"},
	} {
		c := Command{Registry: &scenarios.Registry{Controllers: x.controllers}}
		got := c.try(t.Context(), strings.Fields(x.args)...)
		got.oneLine(t, "", x.want)
	}
}
