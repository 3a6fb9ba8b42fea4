package scenarios_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// The file of a failure passes, because its last step is the failing step with a "!". Without the "!", the file fails
// at that step.
func TestFailureFiles(t *testing.T) {
	good := "controllers replicaset replication\napply world.yaml\n"
	cases := []struct {
		name, script string
		options      scenarios.ExploreOptions
		law          string   // of the first failure
		want         []string // lines of the file
	}{
		{"expectation", good + "settle\nexpect 4 pods controller=rs/web-a\nscale rs/web-a replicas=7\nsettle\n",
			scenarios.ExploreOptions{}, "expect", []string{"! expect 4 pods controller=rs/web-a"}},
		{"expectation that holds against its bang", good + "settle\n! expect 2 pods controller=rs/web-a\nsettle\n",
			scenarios.ExploreOptions{}, "expect", []string{"expect 2 pods controller=rs/web-a"}},
		{"faults", good +
			"settle quiet\nscale rs/web-a replicas=3\nsettle\nexpect 3 pods controller=rs/web-a\nsettle\n",
			scenarios.ExploreOptions{Faults: map[string]int{"crash": 1, "error": 2}, Schedules: 400}, "dont-share",
			[]string{"schedule schedule faults=crash:1,error:2"}},
		{"strict", strict, scenarios.ExploreOptions{Strict: true, Schedules: 300}, "",
			[]string{"schedule schedule --strict"}},
		{"laws", strings.Replace(fights, "judge never-fight\n", "", 1),
			scenarios.ExploreOptions{Laws: []string{"never-fight"}}, "never-fight",
			[]string{"judge never-fight", "! settle"}},
		{"racing user",
			good + "settle quiet\ndelete pod/bystander\n! delete pod/nobody\nscale rs/web-a " +
				"replicas=3\nsettle\nexpect 2 pods controller=rs/web-a\n",
			scenarios.ExploreOptions{}, "expect",
			[]string{"scale rs/web-a replicas=3", "! expect 2 pods controller=rs/web-a"}},
		{"out of time", fights, scenarios.ExploreOptions{Patience: 1}, "never-fight", []string{"! settle"}},
		{"without a settle", "controllers replication@selector\napply world.yaml\nscale rc/web-b replicas=4\n",
			scenarios.ExploreOptions{Laws: []string{"take-ownership"}}, "take-ownership", []string{"! settle"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.options.Schedules == 0 {
				c.options.Schedules = 20
			}
			x, err := scenarios.Explore(t.Context(), parse(t, c.script), -1, careless(), c.options)
			must(t, err)
			if len(x.Failures) == 0 || c.law != "" && x.Failures[0].Law != c.law {
				t.Fatalf("came to\n%s", x.Text())
			}
			for _, f := range x.Failures {
				passes(t, f)
			}
			if spent := c.options.Patience > 0; strings.HasSuffix(x.Failures[0].Small, "; not minimal") != spent {
				t.Errorf("minimizing ran out of time: %t; the description says: %s", spent, x.Failures[0].Small)
			}
			for _, line := range c.want {
				if !strings.Contains(string(x.Failures[0].File), "\n"+line+"\n") {
					t.Errorf("no line %q in\n%s", line, x.Failures[0].File)
				}
			}
		})
	}
}

const fights = "judge never-fight\ncontrollers replicaset@selector replication@selector\napply " +
	"world.yaml\nsettle\nowners\nsettle\n"

// strict is a script in which a controller loses races.
const strict = `controllers replicaset replication
apply world.yaml
settle quiet
delete rs/web-a --cascade=orphan
delete pod/web-a-1
label pod/web-a-2 app=other
settle
`

// careless returns a registry in which the ReplicaSet controller does not retry after errors.
func careless() *scenarios.Registry {
	g := registry()
	for i := range g.Controllers {
		if g.Controllers[i].Name == "replicaset" {
			g.Controllers[i].Careless.DropErrors = true
		}
	}
	return g
}

// passes checks that the file of a failure reproduces it.
func passes(t *testing.T, f *scenarios.Counterexample) {
	t.Helper()
	text := string(f.File)
	read := func() *scenarios.File {
		file, err := scenarios.Parse("failure.txtar", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return file
	}
	g := careless()
	var failures []scenarios.Failure
	file := read()
	res := scenarios.Interpret(file, scenarios.Options{Registry: g, Twice: true,
		Inspect: func(r *scenarios.Run) { failures = r.Failures() }})
	if res.ExitCode != scenarios.ExitPass {
		t.Fatalf("%s: the file of the failure does not pass: %v\n%s", f.Law, res.Errors, text)
	}
	old, err := scenarios.Parse("failure.txtar",
		[]byte(strings.Replace(text, "\n-- ", "\nhash\n----\n0123456789abcdef\n\n-- ", 1)))
	if err != nil || old.Steps[len(old.Steps)-1].Verb != "hash" {
		t.Fatalf("%s: a file of an older version: %v\n%s", f.Law, err, text)
	}
	if res := scenarios.Interpret(old, scenarios.Options{Registry: g}); res.ExitCode != scenarios.ExitPass {
		t.Errorf("%s: with the hash of an older version it does not pass: %v", f.Law, res.Errors)
	}
	if f.Page.Step() == 0 {
		t.Errorf("%s: the page shows no step:\n%s", f.Law, f.Page.Text())
	}
	n := len(file.Steps)
	last := file.Steps[n-1]
	if last.Verb == "expect" && !last.Expect {
		return // the negated expectation of the file holds
	}
	if !last.Expect || len(failures) == 0 || failures[len(failures)-1].Step != last {
		t.Fatalf("%s: the last step, %s, is not the step that fails: %+v\n%s", f.Law, last, failures, text)
	}
	for _, s := range txtar.Parse([]byte(text)).Files {
		if len(bytes.TrimSpace(s.Data)) == 0 {
			t.Errorf("%s: section %s is empty", f.Law, s.Name)
		}
	}
	file = read()
	file.Steps[n-1].Expect = false
	res = scenarios.Interpret(file, scenarios.Options{Registry: g})
	if res.ExitCode == scenarios.ExitPass || res.Page == nil || res.Errors[0].Line != last.Line {
		t.Errorf("%s: the last step passes without its !: exit code %d: %v\n%s", f.Law, res.ExitCode, res.Errors, text)
	}
}

// If a failure needs no objects, its file contains no objects and no empty section.
func TestFailureKeepsNoObject(t *testing.T) {
	x, err := scenarios.Explore(t.Context(),
		parse(t, "controllers replicaset\napply world.yaml\nsettle\nexpect 1 jobs\n"), -1, registry(),
		scenarios.ExploreOptions{Schedules: 2})
	if err != nil || len(x.Failures) != 1 {
		t.Fatal(x, err)
	}
	passes(t, x.Failures[0])
	if n := strings.Count(string(x.Failures[0].File), "\nkind: "); n != 0 {
		t.Errorf("%d objects are left:\n%s", n, x.Failures[0].File)
	}
}

// If several laws count, the law that a mutant violates first kills it. The order in the table of laws does not
// matter.
func TestMutantIsKilledByTheFirstBrokenLaw(t *testing.T) {
	g := registry()
	kill := func(laws ...string) *scenarios.Killed {
		f := parse(t,
			"controllers replicaset replication gc\napply world.yaml\nsettle\nscale rs/web-a replicas=1\nsettle\n")
		k, err := scenarios.Kill(f, -1, g, "gc/unseen-is-absent",
			scenarios.ExploreOptions{Schedules: 20, Seed: 1, Laws: laws})
		must(t, err)
		return k
	}
	first := kill()
	if first.Law == "" || first.Page == nil || first.Step != first.Page.Step() {
		t.Fatalf("came to\n%s", first.Text())
	}
	slices.Reverse(g.Laws)
	if again := kill(); again.Text() != first.Text() {
		t.Errorf("one order of laws:\n%s\nthe other:\n%s", first.Text(), again.Text())
	}
	if k := kill("dont-share"); k.Law != "" {
		t.Errorf("killed by %s, which does not count", k.Law)
	}
}

// If an expectation fails, minimizing keeps the objects that the expectation names, the user's actions on these
// objects, and the last fault. It removes everything else.
func TestExpectationKeepsWhatItSpeaksOf(t *testing.T) {
	script := "controllers replicaset replication\napply world.yaml\nsettle quiet\nlabel pod/bystander x=y\nlabel " +
		"rs/web-a x=y\nsettle\n"
	for expect, want := range map[string][]string{
		"expect pod/bystander deleting=true":         {"label pod/bystander x=y", "metadata: {name: bystander}"},
		"expect 9 pods selector=!app":                {"label pod/bystander x=y", "metadata: {name: bystander}"},
		"expect pod/gone controller=rs/web-a":        {"label rs/web-a x=y", "metadata: {name: web-a}"},
		"expect 1 rc deleting=true controller=rs/no": {"metadata: {name: web-b}"},
	} {
		faulty := false
		x, err := scenarios.Explore(t.Context(), parse(t, script+expect+"\n"), -1, registry(),
			scenarios.ExploreOptions{Schedules: 20, Faults: map[string]int{"crash": 1}, Laws: []string{"never-fight"},
				Raw: func(f *scenarios.Counterexample) { faulty = strings.Contains(f.Small, "1 fault") }})
		if err != nil || len(x.Failures) != 1 {
			t.Fatalf("%s: %v\n%s", expect, err, x.Text())
		}
		text := string(x.Failures[0].File)
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%s: no %q in\n%s", expect, line, text)
			}
		}
		if kinds := strings.Count(text, "\nkind: "); kinds != 1 {
			t.Errorf("%s: %d objects are left in\n%s", expect, kinds, text)
		}
		if faulty && !strings.Contains(x.Failures[0].Small, "1 fault") {
			t.Errorf("%s: the fault is gone: %s", expect, x.Failures[0].Small)
		}
	}
}

// The expectation holds in the default schedule, so it fails because of the schedule. In a world without the
// ReplicaSet it would fail because there is no pod. So minimizing keeps the ReplicaSet.
func TestExpectationKeepsWhatMadeItHold(t *testing.T) {
	script := "controllers replicaset kubelet\napply world.yaml\nscale rs/web-a replicas=1\n" +
		"settle\nexpect pod/web-a-1\n"
	x, err := scenarios.Explore(t.Context(), parse(t, script), -1, registry(), scenarios.ExploreOptions{Schedules: 200})
	if err != nil || len(x.Failures) != 1 {
		t.Fatalf("%v\n%s", err, x.Text())
	}
	for _, line := range []string{"scale rs/web-a replicas=1", "metadata: {name: web-a}"} {
		if !strings.Contains(string(x.Failures[0].File), line) {
			t.Errorf("no %q in\n%s", line, x.Failures[0].File)
		}
	}
}

// The file of a mutant's failure contains the mutant's name, and can be replayed.
func TestMutantsFailureReplays(t *testing.T) {
	g := registry()
	f, err := scenarios.Load("testdata/orphan/adopted-after-the-orphan-pass.txtar")
	must(t, err)
	x, err := scenarios.Explore(t.Context(), f, -1, g,
		scenarios.ExploreOptions{Schedules: 20, Mutant: "replicaset/skip-recheck"})
	if err != nil || len(x.Failures) == 0 {
		t.Fatal(err, x)
	}
	file, err := scenarios.Parse("failure.txtar", x.Failures[0].File)
	must(t, err)
	res := scenarios.Interpret(file, scenarios.Options{Registry: g, Twice: true})
	if res.ExitCode != scenarios.ExitPass {
		t.Errorf("%v\n%s", res.Errors, x.Failures[0].File)
	}
	_, err = scenarios.Explore(t.Context(), f, -1, g, scenarios.ExploreOptions{Mutant: "replicaset/skip-rechek"})
	if err == nil || !strings.Contains(err.Error(), "did you mean replicaset/skip-recheck?") {
		t.Errorf("the error about a typo is %v", err)
	}
}

// restless returns a controller that creates ConfigMaps for each Widget. It then fails forever with the Widget's size as
// the error, and creates Events if there are two ConfigMaps. If the size is "flips", it changes the ConfigMap forever instead. If the size is "alone", it changes the
// status forever, as long as there is no other Widget.
func restless() host.Controller {
	c := widgets(false)
	c.New = func(env *host.Env) host.Reconciler {
		o := &widgetOperator{client: env.Client, widgets: env.Informer(widgetKind).GetStore(),
			maps: env.Informer(configMap).GetStore()}
		events := 0
		return host.SyncFunc(func(ctx context.Context, key string) error {
			obj, ok, _ := o.widgets.GetByKey(key)
			if err := o.sync(ctx, key); err != nil || !ok {
				return err
			}
			w := obj.(*unstructured.Unstructured).DeepCopy()
			size, _, _ := unstructured.NestedString(w.Object, "spec", "size")
			switch m, made, _ := o.maps.GetByKey(key + "-0"); {
			case size == "alone" && len(o.widgets.List()) > 1:
				return nil
			case size == "alone":
				n, _, _ := unstructured.NestedInt64(w.Object, "status", "count")
				w.Object["status"] = map[string]any{"count": 1 - n}
				_, err := env.Client.UpdateStatus(ctx, w)
				return err
			case size == "flips" && made:
				next := m.(*corev1.ConfigMap).DeepCopy()
				next.Data = map[string]string{"on": map[string]string{"": "yes"}[next.Data["on"]]}
				_, err := env.Client.Update(ctx, next)
				return err
			}
			if n, _, _ := unstructured.NestedInt64(w.Object, "spec", "count"); n == 2 && events < 3000 {
				events++
				_, err := env.Client.Create(ctx, &corev1.Event{Reason: "Failed", Type: "Warning",
					ObjectMeta:     metav1.ObjectMeta{Namespace: w.GetNamespace(), GenerateName: w.GetName() + "-"},
					InvolvedObject: corev1.ObjectReference{Kind: "Widget", Namespace: w.GetNamespace(), Name: w.GetName()}})
				return errors.Join(err, errors.New(size))
			}
			return errors.New(size)
		})
	}
	return c
}

// The cause of a failure stays the same while the failure is minimized: the limit that a world exceeds, the last error of
// a world that does not settle, and the kinds of writes in a fight.
func TestCauseStays(t *testing.T) {
	for _, x := range []struct {
		n          int
		a, b, text string
	}{
		{4, "no bricks", "no glass", "the last error: widget/a: no bricks"}, // it depends on Steps whose error is the last
		{2, "no bricks", "no bricks", "not settled after "},
		{2, "flips", "alone", "the state recurs"},
	} {
		g := registry()
		g.Controllers = append(g.Controllers, restless())
		world := strings.NewReplacer("count: 2", fmt.Sprintf("count: %d, size: %s", x.n, x.a), "count: 1", "count: 1, size: "+x.b).Replace(widgetWorld)
		f, err := scenarios.Parse("widgets.txtar", []byte("define crd.yaml\ncontrollers widget\napply world.yaml\nsettle\n"+
			"-- crd.yaml --"+widgetDefinition+"-- world.yaml --"+world))
		must(t, err)
		all, err := scenarios.Explore(t.Context(), f, -1, g, scenarios.ExploreOptions{Schedules: 1, Budget: 30, Steps: 6030})
		must(t, err)
		if len(all.Failures) != 1 {
			t.Fatal(all.Text())
		}
		small, first := all.Failures[0], all.Failures[0].Found().Violation.Text
		if file := string(small.File); !strings.Contains(first, x.text) || !strings.Contains(small.Text, x.text) ||
			!strings.Contains(file, "{name: a") || strings.Contains(file, "{name: b") {
			t.Errorf("first %s, then %s, with\n%s", first, small.Text, file)
		}
	}
}

// givesUp returns a controller that reads the ConfigMap "settings" for each Widget, and fails until it exists. After a
// read that was refused for another reason, it fails forever.
func givesUp() host.Controller {
	c := widgets(false)
	c.New = func(env *host.Env) host.Reconciler {
		refused := false
		return host.SyncFunc(func(ctx context.Context, key string) error {
			_, err := env.Client.Get(ctx, configMap, "default", "settings")
			if refused = refused || err != nil && !apierrors.IsNotFound(err); refused || err != nil {
				return errors.New("no settings")
			}
			return nil
		})
	}
	return c
}

// The world settles in the default schedule, so it does not settle because of a fault. A world without the settings
// would not settle either, but the controller would be right to wait. So minimizing keeps the settings and the fault.
func TestEndKeepsWhatMadeItRight(t *testing.T) {
	g := registry()
	g.Controllers = append(g.Controllers, givesUp())
	f, err := scenarios.Parse("widgets.txtar", []byte("define crd.yaml\ncontrollers widget\napply world.yaml\nsettle\n"+
		"-- crd.yaml --"+widgetDefinition+"-- world.yaml --"+widgetWorld+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"))
	must(t, err)
	x, err := scenarios.Explore(t.Context(), f, -1, g, scenarios.ExploreOptions{Schedules: 50, Budget: 50,
		Laws: []string{"always-settle"}, Faults: map[string]int{"error": 1}})
	must(t, err)
	if len(x.Failures) != 1 {
		t.Fatal(x.Text())
	}
	if small := x.Failures[0]; !strings.Contains(string(small.File), "name: settings") || !strings.Contains(small.Small, "1 fault") {
		t.Errorf("%s, with\n%s", small.Small, small.File)
	}
}

// A minimized file keeps the user's deletion of an object that the user patched before: a right controller may need it.
func TestEndKeepsDeletions(t *testing.T) {
	g := registry()
	g.Controllers = append(g.Controllers, givesUp())
	f, err := scenarios.Parse("widgets.txtar", []byte("define crd.yaml\ncontrollers widget\napply world.yaml\nsettle quiet\n"+
		`patch wd/a type=merge '{"spec":{"count":3}}'`+"\ndelete wd/a\nsettle\n-- crd.yaml --"+widgetDefinition+"-- world.yaml --"+widgetWorld+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"))
	must(t, err)
	x, err := scenarios.Explore(t.Context(), f, -1, g, scenarios.ExploreOptions{Schedules: 50, Budget: 50,
		Laws: []string{"always-settle"}, Faults: map[string]int{"error": 1}})
	must(t, err)
	if len(x.Failures) != 1 || !strings.Contains(string(x.Failures[0].File), "\ndelete wd/a\n") {
		t.Fatalf("%s\n%s", x.Text(), x.Failures[0].File)
	}
}
