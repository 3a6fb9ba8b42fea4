package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// keeper is the controller of the programs in testdata. Each of them creates a Secret for each ConfigMap.
var keeper = host.Controller{Name: "keeper", For: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	Owns: []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Secret")}}

// owners is the number of ConfigMaps in a world.
const owners = 5

// run starts a world with a program, and runs it until it has settled. The caller must stop it.
func run(t testing.TB, c host.Controller, choices sim.Choices, faults map[string]int, processes ...string) *trial.Trial {
	t.Helper()
	w := trial.New(trial.Options{Choices: choices})
	for i := range owners {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("m", i)},
			Data: map[string]string{"mode": "quiet"}}
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindOf(m), Namespace: "default",
			Object: m}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Faults(faults))
	for _, name := range append([]string{"keeper"}, processes...) {
		w.Start(name, c)
	}
	w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
	return w
}

func secrets(w *trial.Trial) int { return w.Server.Len(w.Server.KindNamed("secret")) }

// same runs every seed twice. It fails the test if the two runs of a seed differ.
func same(t *testing.T, c host.Controller, seeds uint64, faults map[string]int, processes ...string) {
	t.Helper()
	repeats(t, c, seeds, 2, faults, processes...)
}

// repeats runs every seed several times. It fails the test if the runs of a seed differ.
func repeats(t *testing.T, c host.Controller, seeds uint64, runs int, faults map[string]int, processes ...string) {
	t.Helper()
	for seed := range seeds {
		hashes := make([]uint64, runs)
		for i := range hashes {
			w := run(t, c, sim.NewSeed(seed), faults, processes...)
			if b := w.Broken(); b != nil {
				t.Errorf("seed %d: %v", seed, b)
			}
			if n := secrets(w); n != owners {
				t.Errorf("seed %d: %d Secrets for %d ConfigMaps", seed, n, owners)
			}
			hashes[i] = w.World.Hash()
			w.Stop()
		}
		if len(slices.Compact(hashes)) > 1 {
			t.Errorf("seed %d: its runs differ", seed)
		}
	}
}

var manyFaults = map[string]int{"crash": 1, "stale": 1, "conflict": 1, "lost": 1, "relist": 1}

func TestTwoRunsAreOne(t *testing.T) {
	same(t, program(t, "bare").Controller(keeper), 20, manyFaults)
}

func TestTwoReplicasAreOneRun(t *testing.T) {
	same(t, program(t, "bare").Controller(keeper), 10, map[string]int{"crash": 1, "stale": 1}, "keeper-2")
}

// stamps returns the content of a program's Secrets, in order.
func stamps(t *testing.T, c host.Controller, choices sim.Choices) (all string) {
	t.Helper()
	w := run(t, c, choices, nil)
	defer w.Stop()
	w.Server.Each(w.Server.KindNamed("secret"), func(o runtime.Object) bool {
		all += string(o.(*corev1.Secret).Data["stamp"]) + " "
		return true
	})
	return all
}

// A program gets known primes for its keys, and all its random numbers are different.
func TestKeysOfKnownPrimes(t *testing.T) {
	c := program(t, "bare", "keys").Controller(keeper)
	one, other := stamps(t, c, sim.Zero{}), stamps(t, c, sim.NewSeed(1))
	if want := strings.Repeat("right ", owners); one != want || other != want {
		t.Errorf("%q and %q", one, other)
	}
}

// Random numbers of a package's initialization are repeatable, and differ from life to life. Otherwise a restarted program
// would choose the names that it has chosen before.
func TestEarlyRandomNumbers(t *testing.T) {
	c := program(t, "bare", "drawn").Controller(keeper)
	early := func() (values []string) {
		w := run(t, c, sim.Zero{}, nil)
		defer w.Stop()
		for _, name := range []string{"second", "third"} {
			w.Cluster.Process("keeper").Restart(0)
			must(t, create(w, configMap(name)))
			w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
		}
		for _, name := range []string{"m0", "second", "third"} {
			values = append(values, string(secret(w, name).Data["stamp"]))
		}
		return values
	}
	one := early()
	if again := early(); !slices.Equal(one, again) {
		t.Errorf("%q, then %q", one, again)
	}
	for source := range 2 { // of the time, and of package math/rand
		seen := map[string]bool{}
		for _, value := range one {
			seen[strings.Fields(value)[source]] = true
		}
		if len(seen) != len(one) {
			t.Errorf("the lives have the numbers %q", one)
		}
	}
}

// The environment of a program does not show how it is hosted.
func TestEnvironment(t *testing.T) {
	c := program(t, "bare", "environment").Controller(keeper)
	if got := stamps(t, c, sim.Zero{}); !strings.Contains(got, "KUBECONFIG=/kubeconfig") || strings.Contains(got, "THREELAWS") ||
		strings.Contains(got, "GOGC") {
		t.Errorf("the environment is %s", got)
	}
}

// A world ends although a child that the program has forked still runs.
func TestForks(t *testing.T) {
	w := run(t, program(t, "bare", "fork").Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	if n := secrets(w); n != owners {
		t.Errorf("%d secrets", n)
	}
}

// A program that waits ten minutes before it writes has not settled before, even if it sets the timer some time after its
// last request, or if another late timer is due before.
func TestLateTimer(t *testing.T) {
	for _, does := range []string{"patient", "hesitant", "twofold"} {
		c := program(t, "bare", does).Controller(keeper)
		if got, want := stamps(t, c, sim.Zero{}), strings.Repeat("late ", owners); got != want {
			t.Errorf("%s: the Secrets are %q, not %q", does, got, want)
		}
	}
}

// The order of goroutines and of maps depends neither on real time nor on other work of Go's runtime.
func TestTurnsDoNotDependOnRealTime(t *testing.T) {
	for _, does := range []string{"addresses", "crowd", "pipe", "slow"} {
		t.Run(does, func(t *testing.T) {
			c := program(t, "bare", does).Controller(keeper)
			first := stamps(t, c, sim.Zero{})
			for range 5 {
				if again := stamps(t, c, sim.Zero{}); again != first {
					t.Fatalf("%s, then %s", first, again)
				}
			}
		})
	}
}

// The order of maps is a choice of the schedule.
func TestOrderOfMapsIsExplored(t *testing.T) {
	c := program(t, "bare", "order").Controller(keeper)
	seen := map[string]bool{}
	for seed := range uint64(8) {
		one, other := stamps(t, c, sim.NewSeed(seed)), stamps(t, c, sim.NewSeed(seed))
		if one != other {
			t.Errorf("seed %d: %s, then %s", seed, one, other)
		}
		seen[one] = true
	}
	if len(seen) < 2 {
		t.Errorf("every seed has the order %v", seen)
	}
}

// Each of these bad programs violates the expected law, or none if its bad behaviour does no harm.
func TestBadPrograms(t *testing.T) {
	for _, test := range []struct{ does, violation string }{
		{"panic", `assignment to entry in nil map, at bare/main.go:\d+`},
		{"fatal", `sync: unlock of unlocked mutex, at bare/main.go:\d+`},
		{"crashloop", `crash loop: it has exited 5 times in a row and written nothing between, except Leases and Events: ` +
			`exit status 3; the last lines that it printed:\n\tcannot find the certificate`},
		{"usage", `exit status 2; the last lines that it printed:\n\tflag provided but not defined: -zones\n\tUsage of bare:$`},
		{"electedcrashloop", `crash loop: it has exited 5 times in a row`},
		{"deadlock", `deadlock: a goroutine waits for a mutex that it holds itself, at bare/main.go:\d+`},
		{"loop", `endless loop: a goroutine never waits, at bare/main.go:\d+`},
		{"recursion", `stack overflow, at bare/spin.go:\d+`},
		{"spin", `endless loop: a goroutine never waits, at bare/spin.go:\d+`},
		{"memory", `out of memory`},
		{"exit", ""}, // the program is started again, once for each Secret
		{"closed", ""},
		{"print", ""},
		{"writes", ""}, // to files that it did not open
	} {
		t.Run(test.does, func(t *testing.T) {
			w := run(t, program(t, "bare", test.does).Controller(keeper), sim.Zero{}, nil)
			defer w.Stop()
			switch b := w.Broken(); {
			case test.violation == "" && b != nil:
				t.Errorf("it violates a law: %v", b)
			case test.violation == "":
				if secrets(w) != owners {
					t.Errorf("there are %d Secrets for %d ConfigMaps", secrets(w), owners)
				}
			case b == nil:
				t.Error("it violates no law")
			case !regexp.MustCompile(test.violation).MatchString(b.String()):
				t.Errorf("%v\ndoes not match %s", b, test.violation)
			}
		})
	}
}

// A program that uses CPU time at regular times is in no endless loop, whatever the time that passes without a request.
func TestPollsForHours(t *testing.T) {
	w := run(t, program(t, "bare", "polls").Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	w.Settle(trial.Limits{Writes: 1000, Steps: 20_000, For: 150 * time.Minute})
	if b := w.Broken(); b != nil {
		t.Error(b)
	}
}

// A program cannot start other programs, reach the network or other processes, or change files of the machine, also not
// by raw system calls.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	must(t, os.WriteFile(kept, nil, 0o600))
	before, err := os.Stat(kept)
	must(t, err)
	w := run(t, program(t, "bare", "outside", dir).Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	if b := w.Broken(); b != nil {
		t.Error(b)
	}
	all, err := os.ReadDir(dir)
	must(t, err)
	after, err := os.Stat(kept)
	must(t, err)
	if len(all) != 1 || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the program changed files: %v, %v", all, after)
	}
}

// A program in a system call that does not return is killed after half a minute of real time.
func TestHangingSystemCall(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("it takes half a minute: set SOAK to run it")
	}
	w := run(t, program(t, "bare", "hang").Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	want := regexp.MustCompile(`a system call that does not return, at bare/main.go:\d+`)
	if b := w.Broken(); b == nil || !want.MatchString(b.String()) {
		t.Errorf("the violation is %v", b)
	}
}

// Goroutines that still wait after the program has settled are listed, but they are not violations.
func TestWaits(t *testing.T) {
	for does, want := range map[string]string{
		"":        `^$`,
		"io":      `^main\.wait waits for I/O, at bare/main\.go:\d+$`,
		"rlock":   `^main\.wait waits for an RWMutex, at bare/main\.go:\d+$`,
		"rwlock":  `^main\.wait waits for an RWMutex, at bare/main\.go:\d+$`,
		"mutex":   `main\.wait\.func1 waits for a mutex, at bare/main\.go:\d+`,
		"group":   `^main\.wait waits for a WaitGroup, at bare/main\.go:\d+$`,
		"cond":    `^main\.wait waits for a Cond, at bare/main\.go:\d+$`,
		"receive": `^main\.wait waits for a channel made before main began, at bare/main\.go:\d+$`,
		"send":    `^main\.wait waits for a channel made before main began, at bare/main\.go:\d+$`,
		"select":  `^$`,
	} {
		t.Run(does, func(t *testing.T) { waits(t, program(t, "bare", does), want) })
	}
}

// Waits of the goroutines of controller-runtime are not listed.
func TestManagerHasNoWaits(t *testing.T) { waits(t, program(t, "manager"), `^$`) }

// A reconcile that waits for ever is listed.
func TestStuckReconcile(t *testing.T) {
	b := program(t, "manager")
	b.Env = append(b.Env, "STUCK=1")
	run(t, b.Controller(keeper), sim.Zero{}, nil).Stop()
	want := regexp.MustCompile(`^a reconcile has not ended: main\.\(\*keeper\)\.Reconcile waits, at manager/main\.go:\d+$`)
	if all := strings.Join(b.Waits(), "\n"); !want.MatchString(all) {
		t.Errorf("it waits for %s", all)
	}
}

func waits(t *testing.T, b *agent.Binary, want string) {
	t.Helper()
	w := run(t, b.Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	if v := w.Broken(); v != nil || secrets(w) != owners {
		t.Errorf("%d Secrets for %d ConfigMaps, and the violation is %v", secrets(w), owners, v)
	}
	if all := strings.Join(b.Waits(), "\n"); !regexp.MustCompile(want).MatchString(all) {
		t.Errorf("it waits for\n%s\nnot %s", all, want)
	}
}

// A program that closes all possible files loses the connection to the world. The violation says so.
func TestClosedFiles(t *testing.T) {
	w := run(t, program(t, "bare", "files").Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	found := false
	for i := range w.World.History.Len() {
		found = found || strings.Contains(w.World.History.At(i).Reason, "lost its connection to the world")
	}
	if !found {
		t.Error("no violation says that the connection to the world was lost")
	}
}

func TestManagerIsOneRun(t *testing.T) {
	same(t, program(t, "manager").Controller(keeper), 10, manyFaults)
}

// Runs of a kubebuilder main are equal when they are repeated, under all faults.
func TestManyRuns(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("200 seeds are run 5 times each: set SOAK to run it")
	}
	repeats(t, program(t, "manager").Controller(keeper), 200, 5, manyFaults)
}

// A program that restarts with a lagging server receives objects that are older than its first watch. The history says so.
func TestLaggingServerShowsOldObjects(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{})
	put := func(o runtime.Object) uint64 {
		req := &fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindOf(o), Object: o, Namespace: o.(metav1.Object).GetNamespace()}
		if resp, _ := server.Do(sim.Epoch, req); resp.Err != nil {
			t.Fatal(resp.Err)
		}
		return server.Version()
	}
	then := put(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old"}})
	put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "newer"}})
	w := trial.New(trial.Options{Server: server})
	defer w.Stop()
	w.Start("keeper", program(t, "bare", "cached").Controller(keeper))
	w.Settle(trial.Limits{})
	w.Cluster.Process("keeper").Restart(then)
	w.Settle(trial.Limits{})
	for i := range w.World.History.Len() {
		if r := w.World.History.At(i); r.Op == sim.Delivery && r.Incarnation == 1 && r.Object.Kind == "ConfigMap" {
			return
		}
	}
	t.Error("after the restart, the ConfigMap was not delivered")
}

// A world with two replicas settles, although the leader renews its Lease for ever.
func TestElectedManagersSettle(t *testing.T) {
	same(t, program(t, "manager", "--leader-elect").Controller(keeper), 5, map[string]int{"crash": 1}, "keeper-2")
}

// A lock in an annotation is renewed like a Lease: the renewals are not steps of the world. They are no changes either,
// so a world also settles if the leader retries something at long intervals, and if it watches its own lock.
func TestAnnotatedLock(t *testing.T) {
	for does, most := range map[string]int{"elected": 200, "retries": 200, "follows": 5000} {
		w := run(t, program(t, "bare", does).Controller(keeper), sim.Zero{}, nil)
		defer w.Stop()
		if v, steps := w.Broken(), w.World.Steps(); v != nil || steps > most {
			t.Errorf("%s: %d steps, the violation is %v", does, steps, v)
		}
		if w.Server.Lookup(w.Server.KindNamed("endpoints"), "default", "lock") == nil {
			t.Errorf("%s: there is no lock", does)
		}
	}
}

// A world settles although a program sends refused Events for ever.
func TestReportsAreNoActivity(t *testing.T) {
	w := run(t, program(t, "bare", "reports").Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	refused := 0
	for i := range w.World.History.Len() {
		if r := w.World.History.At(i); r.Op == sim.Refusal && r.Object.Kind == "Event" {
			refused++
		}
	}
	if v := w.Broken(); v != nil || refused < 3 || refused > 30 {
		t.Errorf("%d Events were refused, the violation is %v", refused, v)
	}
}

// A panic that controller-runtime recovers is a violation.
func TestRecoveredPanic(t *testing.T) { panics(t, program(t, "manager")) }

func panics(t *testing.T, b *agent.Binary) {
	t.Helper()
	b.Env = []string{"PANIC=1"}
	w := run(t, b.Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	want := regexp.MustCompile(`assignment to entry in nil map, at manager/main.go:\d+`)
	if v := w.Broken(); v == nil || !want.MatchString(v.String()) {
		t.Errorf("the violation is %v", v)
	}
}

// The writes of two runs are compared. Times are equal in both runs. Values that come from the machine differ.
func TestContentIsCompared(t *testing.T) {
	for does, differs := range map[string]bool{"stamp": false, "random": true} {
		t.Run(does, func(t *testing.T) {
			var hashes [2]uint64
			for i := range hashes {
				w := run(t, program(t, "bare", does).Controller(keeper), sim.NewSeed(1), nil)
				hashes[i] = w.World.Hash()
				w.Stop()
			}
			if (hashes[0] != hashes[1]) != differs {
				t.Errorf("the runs' hashes are %x", hashes)
			}
		})
	}
}
