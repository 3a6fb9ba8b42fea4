package hosted_test

import (
	"flag"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/upstream/hosted"
)

// world is a file of the library that is run with upstream's controllers.
type world struct {
	name  string // "overlap/victim-is-another"
	file  *scenarios.File
	until int // the steps before this one are the world
}

// inTheirPlace returns the registry in which a plain name stands for upstream's controller.
func inTheirPlace() *scenarios.Registry {
	g := builtin.Registry()
	g.Controllers = append(g.Controllers, hosted.Controllers()...)
	return builtin.Complete(g)
}

// ours returns the registry with the library's controllers.
func ours() *scenarios.Registry { return builtin.Complete(builtin.Registry()) }

// strange matches the text of files whose worlds cannot run with upstream's controllers.
var strange = []struct {
	text *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`@|(?m)^switch `), "it is about older eras"},
	{regexp.MustCompile(`(?m)^managers `), "it is about instances of the manager"},
	{regexp.MustCompile(`(?m)^controllers .*(\bnamespace\b|\*)`), mapOrder + "the kinds in a namespace"},
	{regexp.MustCompile(`(?m)^controllers .*\bpodgc\b`), oneInstant},
}

const mapOrder = "upstream's controller goes in the order of a map, another in each run, through "

// unplayed lists the worlds that are left out by name, with the reason.
var unplayed = map[string]string{
	"daemonset/surge":                          mapOrder + "nodes",
	"daemonset/template-changes":               mapOrder + "nodes",
	"endpointslice/one-too-many":               mapOrder + "slices",
	"endpointslice/deleted-before-it-was-seen": unwatched,
	"overlap/first-seen-terminating":           unwatched,
}

const oneInstant = "upstream's controller has two timers due at one instant, and a bubble fires those in any order"

const unwatched = "it holds a watch before a program has opened it"

// worlds returns the files of the library in which the first exploration finds no violation by right controllers,
// named by directory and file. left counts the other files by reason.
func worlds(t *testing.T) (all []world, left map[string]int) {
	left = map[string]int{}
	lib := scenarios.Library()
	err := fs.WalkDir(lib, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(at) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(lib, at)
		if err != nil {
			return err
		}
		f, err := scenarios.Parse(at, text)
		if err != nil {
			return err
		}
		w := world{name: strings.TrimSuffix(at, ".txtar"), file: f}
		w.until = slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return s.Verb == "explore" })
		if why := w.unplayed(string(text)); why != "" {
			left[why]++
			return nil
		}
		all = append(all, w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, left
}

// unplayed returns the reason why a world cannot run with upstream's controllers, or "".
func (w *world) unplayed(text string) string {
	if w.until < 0 || w.file.Steps[w.until].Expect {
		return "it is not explored with controllers that are right"
	}
	for _, s := range strange {
		if s.text.MatchString(text) {
			return s.why
		}
	}
	return unplayed[w.name]
}

// options returns the options with which the file explores its world, with the faults. Expectations of the file other
// than the laws apply only to our controllers.
func (w *world) options(t *testing.T) scenarios.ExploreOptions {
	o, err := w.file.Steps[w.until].ExploreOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.Strategy, o.LawsOnly, o.Workers = "mix", true, 1
	return o
}

// differences lists the worlds that end differently with upstream's controllers than with ours. The value is the
// finding that explains the difference.
var differences = map[string]string{
	"bugs/c17-slice-held-by-a-finalizer": "C17: the Service has no slice beside the one that is held",
	"bugs/d21-two-that-own-each-other":   "D21: both wait for each other for ever",

	"cronjob/killed-after-the-start": "cronjob-forbids-and-starts-a-second: there are two Jobs",

	"daemonset/pod-is-another":  byName,
	"job/recreated-pod":         byName,
	"job/recreated-pod-unseen":  "job-strips-recreated",
	"overlap/victim-is-another": byName,

	"orphan/cluster-scoped-object-is-known-from-its-dependent": "the collector looks for its owner in the " +
		"dependent's namespace",
	"orphan/kind-of-the-owner-goes-and-comes": unserved,
	"orphan/orphan-requested-twice":           twice,

	"statefulset/name-is-taken": "statefulset-takes-web-01-for-web-1",
	"statefulset/names-decide":  "statefulset-takes-web-01-for-web-1",
}

// finding is a law that upstream's controllers violate in a world of the library.
type finding struct{ world, law string }

const unserved = "gc-takes-an-unserved-kind-for-an-absent-owner"

const twice = "gc-misses-a-second-deletion: D12 is mended where there is no gap in the watch"

const byName = "replicaset-deletes-recreated: a pod is deleted by its name, without a uid"

// findings lists the accepted violations. The value names the known bug, or the finding of docs/evidence/findings.md.
var findings = map[finding]string{
	{"bugs/b21-cronjob-takes-jobs-by-name", "dont-interfere"}:     "B21: Jobs are known by the name of their controller",
	{"bugs/c17-slice-held-by-a-finalizer", "exact-sum"}:           "C17: a slice that is held counts as one to come",
	{"bugs/c21-daemonset-stays-one-short", "one-on-each-node"}:    "C21: no event wakes the controller when an orphan is gone",
	{"bugs/d21-two-that-own-each-other", "resolve-unseen-owners"}: "D21: a circle whose objects both wait is not broken",

	{"cronjob/replaces-the-first", "never-too-many"}:       "cronjob-forbids-and-starts-a-second, by Replace",
	{"cronjob/recreated-finished-job", "same-incarnation"}: "cronjob-deletes-recreated",
	{"cronjob/replaces-the-first", "dont-interfere"}:       "cronjob-replaces-what-it-had-lost",

	{"orphan/cluster-scoped-object-is-known-from-its-dependent", "check-before-collecting"}: "gc-borrows-a-namespace",

	{"bugs/b19-children-found-by-labels-that-change", "never-too-many"}: "cronjob-requests-without-namespace",
	{"cronjob/forbids-a-second", "never-too-many"}:                      "cronjob-requests-without-namespace",
	{"bugs/b26-endpointslices-that-others-change", "exact-sum"}:         "endpointslice-forgets-what-it-made",
	{"deployment/history-is-forgotten", "same-incarnation"}:             "deployment-deletes-recreated",

	{"daemonset/pod-is-another", "same-incarnation"}:  byName,
	{"job/recreated-pod", "dont-interfere"}:           byName,
	{"job/recreated-pod", "same-incarnation"}:         byName,
	{"overlap/victim-is-another", "same-incarnation"}: byName,

	{"job/recreated-pod-unseen", "same-incarnation"}:  "job-strips-recreated",
	{"overlap/set-replaced-amid-a-sync", "exact-sum"}: "waits-for-its-predecessor",

	{"statefulset/name-is-taken", "release-non-matching"}: "statefulset-takes-web-01-for-web-1",
	{"statefulset/names-decide", "exact-sum"}:             "statefulset-takes-web-01-for-web-1",
	{"statefulset/victim-is-another", "same-incarnation"}: "statefulset-deletes-recreated",

	{"orphan/foreground-requested-twice", "foreground-owner-waits"}: twice,
	{"orphan/orphan-requested-twice", "orphan-before-removal"}:      twice,

	{"orphan/kind-of-the-owner-goes-and-comes", "check-before-collecting"}: unserved,
}

var (
	only      = flag.String("only", "", "the worlds whose names contain this")
	schedules = flag.Int("schedules", 2, "how many schedules of each world, without SOAK")
)

// enough is the number of schedules of a world in a long run, in which each row of the table must be found.
const enough = 300

// In worlds in which this module's controllers keep the laws, upstream's violate only the laws in the table. An
// ordinary run explores every sixth world. With SOAK the test explores all worlds, and must find every row of the table.
func TestUpstreamViolatesNothingElse(t *testing.T) {
	all, left := worlds(t)
	each := *schedules
	if long() {
		each = max(enough, soak()/len(all))
	}
	all = sample(all, 0)
	g, began, total, found := inTheirPlace(), time.Now(), 0, map[finding]bool{}
	for _, w := range all {
		if !strings.Contains(w.name, *only) {
			continue
		}
		o, at := w.options(t), time.Now()
		o.Schedules, o.Budget, o.Steps = each, 1, 5000
		x, err := scenarios.Explore(t.Context(), w.file, w.until, g, o)
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		if total += x.Schedules; x.Ended == 0 {
			t.Errorf("%s: no schedule came to its end, so no law was evaluated", w.name)
		}
		if took := time.Since(at); took > 5*time.Second {
			t.Logf("%s took %v", w.name, took)
		}
		for _, a := range findingsOf(w.name, x) {
			if found[a] = true; findings[a] == "" {
				t.Errorf("%s is violated in %s%s", a.law, a.world, w.shortest(t, g, o, a.law))
			}
		}
	}
	for a := range findings {
		if strings.Contains(a.world, *only) && each >= enough && !found[a] {
			t.Errorf("the table says that %s is violated in %s, but it is not", a.law, a.world)
		}
	}
	t.Logf("%d schedules of %d worlds, %d findings, in %v; other worlds: %v", total, len(all), len(found),
		time.Since(began).Round(time.Second), left)
}

// soak returns the number of schedules of a long run; 0 for an ordinary run.
func soak() int {
	n, _ := strconv.Atoi(os.Getenv("SOAK"))
	return n
}

// sample returns every sixth world, beginning with index from. In a long run, or if worlds are selected by name, it
// returns all.
func sample(all []world, from int) []world {
	if long() || *only != "" {
		return all
	}
	var some []world
	for i := from; i < len(all); i += 6 {
		some = append(some, all[i])
	}
	return some
}

func long() bool { return soak() > 0 }

// findingsOf returns the laws that were violated in an exploration.
func findingsOf(world string, x *scenarios.Exploration) []finding {
	var all []finding
	for _, f := range x.Failures {
		all = append(all, finding{world, f.Law})
	}
	if x.Unsettled > 0 {
		all = append(all, finding{world, "unsettled"})
	}
	return all
}

// shortest returns the shortest schedule that violates a law.
func (w *world) shortest(t *testing.T, g *scenarios.Registry, o scenarios.ExploreOptions, law string) string {
	if law == "unsettled" {
		return ""
	}
	o.Laws, o.First, o.Budget = []string{law}, true, 300
	x, err := scenarios.Explore(t.Context(), w.file, w.until, g, o)
	if err != nil || len(x.Failures) == 0 {
		return ", beside others only"
	}
	return ":\n" + x.Failures[0].Page.Text()
}
