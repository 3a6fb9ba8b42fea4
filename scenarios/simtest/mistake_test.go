package simtest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	keepfile "github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// A mistake in a case is one line that names the field.
func TestMistakes(t *testing.T) {
	for _, m := range []struct {
		want  string
		spoil func(c *simtest.Case)
	}{
		{"simtest.Case: Controllers is empty: there is nothing to try",
			func(c *simtest.Case) { c.Controllers = nil }},
		{"simtest.Case: Controllers[0]: controller keeper: New is nil: it makes the memory and the Sync of each start",
			func(c *simtest.Case) { c.Controllers[0].New = nil }},
		{"simtest.Case: controller keeper: New returned nil",
			func(c *simtest.Case) { c.Controllers[0].New = func(*host.Env) host.Reconciler { return nil } }},
		{"simtest.Case: With[0]: unknown controller kubelt; did you mean kubelet?",
			func(c *simtest.Case) { c.With = []string{"kubelt"} }},
		{"simtest.Case: For is -1s: it must not be negative",
			func(c *simtest.Case) { c.For = -time.Second }},
		{"User[0]: unknown verb delte; did you mean delete?",
			func(c *simtest.Case) { c.User = []simtest.Action{simtest.Verb("delte cm/a")} }},
		{`simtest.Case: User[0]: the name in Do("two words", ...) must be one word: it occurs in files and schedules`,
			func(c *simtest.Case) { c.User = []simtest.Action{simtest.Do("two words", everyMapHasItsSecret)} }},
		{"simtest.Case: Files[0]: check_test.og is not there; did you mean check_test.go?",
			func(c *simtest.Case) { c.Files = []string{"check_test.og"} }},
		{"World:2: unknown kind ConfigMp; did you mean ConfigMap?",
			func(c *simtest.Case) { c.World = "apiVersion: v1\nkind: ConfigMp\nmetadata: {name: a}\n" }},
		{"simtest.Case: Faults: unknown fault crsh; did you mean crash?",
			func(c *simtest.Case) { c.Faults = map[string]int{"crsh": 1} }},
		{"simtest.Case: Controllers[0] and [1] are both named keeper: each runs as a process of its name, so change " +
			"one Name",
			func(c *simtest.Case) { c.Controllers = append(c.Controllers, Keeper) }},
		{"simtest.Case: Controllers[0]: controller keeper: For is empty: no law would judge it; name the " +
			"kind it reconciles",
			func(c *simtest.Case) {
				c.Controllers[0] = host.Controller{Name: Keeper.Name, New: Keeper.New}
			}},
		{"simtest.Case: Controllers[0]: controller keeper: Routes[0], of ConfigMap: the controller Polls, so no " +
			"event enqueues anything: remove the route",
			func(c *simtest.Case) { c.Controllers[0].Contract.Polls = true }},
		{"simtest.Case: Controllers[0]: controller keeper: Unwatched[0]: ConfigMap is none of Owns",
			func(c *simtest.Case) { c.Controllers[0].Contract.Unwatched = []schema.GroupVersionKind{configMaps} }},
		{"simtest.Case: Controllers[0]: controller keeper: Routes[1]: Secret is Unwatched: no event of it " +
			"arrives, so its function is not called",
			func(c *simtest.Case) { c.Controllers[0].Contract.Unwatched = c.Controllers[0].Owns }},
		{"simtest.Case: Invariants: two invariants have the ID one-secret-per-map",
			func(c *simtest.Case) { c.Invariants = []*law.Invariant{oneSecret(), oneSecret()} }},
		{"simtest.Case: Invariants: two invariants have the ID one-secret-per-map: controller keeper declares one",
			func(c *simtest.Case) {
				c.Invariants = []*law.Invariant{oneSecret()}
				c.Controllers[0].Contract.Invariants = []*law.Invariant{oneSecret()}
			}},
		{"simtest.Case: Controllers: two have different invariants with the ID one-secret-per-map: give one another ID",
			func(c *simtest.Case) {
				second, other := Keeper, oneSecret()
				second.Name, other.When = "other", law.WhenSettled
				c.Controllers[0].Contract.Invariants = []*law.Invariant{oneSecret()}
				second.Contract.Invariants = []*law.Invariant{other}
				c.Controllers = append(c.Controllers, second)
			}},
		{"simtest.Case: Controllers[0]: controller keeper: Contract.AllowDuplicate needs Identity: it says which two " +
			"may have the same",
			func(c *simtest.Case) {
				c.Controllers[0].Contract.AllowDuplicate = func(_, _, _ runtime.Object) bool { return true }
			}},
		{"simtest.Case: invariant mine: it reads the kind Bucket, which the world does not have",
			func(c *simtest.Case) {
				c.Invariants = []*law.Invariant{{ID: "mine", Sentence: "It holds.", When: law.WhenSettled,
					Check: func(f *law.Facts) string { f.All("Bucket"); return "" }}}
			}},
	} {
		c := simtest.Case{Controllers: []host.Controller{Keeper}, Schedules: 1}
		m.spoil(&c)
		if _, err := c.Explore(t.Context(), "w"); err == nil || err.Error() != m.want {
			t.Errorf("got  %v\nwant %s", err, m.want)
		}
	}
}

// oneSecret returns an invariant: a ConfigMap never gets a second Secret.
func oneSecret() *law.Invariant {
	return &law.Invariant{ID: "one-secret-per-map", Sentence: "No two Secrets for one ConfigMap.", When: law.AtWrite,
		Check: func(f *law.Facts) string {
			of := map[string]int{}
			for _, s := range f.All("Secret") {
				if c := metav1.GetControllerOf(s.(*corev1.Secret)); c != nil {
					if of[c.Name]++; of[c.Name] > 1 {
						return "cm/" + c.Name + " has " + strconv.Itoa(of[c.Name]) + " Secrets"
					}
				}
			}
			return ""
		}}
}

// forgetful creates a Secret with a generated name if its cache contains none.
func forgetful(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
	for _, o := range env.Informer(secrets).GetIndexer().List() {
		if metav1.IsControlledBy(o.(*corev1.Secret), m) {
			return nil
		}
	}
	s := secret(m)
	s.Name, s.GenerateName = "", m.Name+"-"
	_, err := env.Client.Create(ctx, s)
	return err
}

// An invariant of a case is explored, minimized and printed like a law. A controller that does not violate it is not
// reported.
func TestInvariantOfCase(t *testing.T) {
	of := func(sync func(context.Context, *host.Env, *corev1.ConfigMap) error) simtest.Case {
		c := keeping(keeper(sync))
		c.Controllers[0].Contract.Replicas = nil
		c.User = []simtest.Action{simtest.Verb("label cm/a b=c")}
		c.Settled, c.Faults, c.Invariants = nil, map[string]int{"crash": 1}, []*law.Invariant{oneSecret()}
		c.Objects = []runtime.Object{kept}
		return c
	}
	right := of(keep)
	if x, err := right.Explore(t.Context(), "w"); err != nil || len(x.Failures) > 0 {
		t.Errorf("a right controller is reported: %v, %v", x, err)
	}
	wrong := of(forgetful)
	x, err := wrong.Explore(t.Context(), "w")
	if err != nil || len(x.Failures) == 0 {
		t.Fatalf("not found: %v", err)
	}
	f := x.Failures[0]
	if f.Law != "one-secret-per-map" || !strings.Contains(f.Said(), "cm/a has 2 Secrets") {
		t.Errorf("found %s: %s", f.Law, f.Said())
	}
	wrong.Controllers[0].Contract.Invariants, wrong.Invariants, wrong.Strict = wrong.Invariants, nil, true
	wrong.Controllers[0].Contract.Invariants[0].When = law.WhenSettled
	wrong.Laws = []*law.Law{law.ByID("LAW-1")}
	if x, err = wrong.Explore(t.Context(), "w"); err != nil || len(x.Failures) == 0 {
		t.Errorf("with Laws, an invariant of a Contract is not checked: %v", err)
	}
}

// A Check that panics during the replay of a kept failure gives one line.
func TestWrongCheckBesideAKeptFailure(t *testing.T) {
	c := keeping(keeper(forgetful))
	if dir := t.TempDir(); os.Getenv("THREELAWS_WRONG_CHECK") == "" {
		x, err := c.Explore(t.Context(), "w")
		if err != nil || len(x.Failures) == 0 {
			t.Fatalf("not found: %v", err)
		}
		if _, err := keepfile.Keep(filepath.Join(dir, t.Name()), x.Failures[0]); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-threelaws.failures="+dir)
		cmd.Env = append(os.Environ(), "THREELAWS_WRONG_CHECK=1")
		out, _ := cmd.CombinedOutput()
		if text := string(out); !strings.Contains(text, "invariant mine: its Check panics: oh at mistake_test.go:") ||
			strings.Contains(text, "goroutine ") {
			t.Errorf("%s", text)
		}
		return
	}
	c.Invariants = []*law.Invariant{{ID: "mine", Sentence: "x", When: law.AtWrite, Check: func(*law.Facts) string { panic("oh") }}}
	simtest.Check(t, c)
}
