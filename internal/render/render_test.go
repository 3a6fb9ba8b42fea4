package render_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// thing returns an object that has only metadata.
func thing(owners ...metav1.OwnerReference) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "default", OwnerReferences: owners}}
}

// ownedBy returns a ControllerRef.
func ownedBy(r sim.Ref) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID),
		Controller: ptr(true)}
}

func ptr[T any](v T) *T { return &v }

func ref(kind, name string) sim.Ref {
	return sim.Ref{Kind: kind, Namespace: "default", Name: name, UID: kind + name}
}

var (
	deployment = ref("Deployment", "web")
	set        = ref("ReplicaSet", "web-1")
	pod        = ref("Pod", "web-1-1")
)

// orphan returns a history in which a Deployment adopts an object just after it was orphaned.
func orphan() (*sim.History, render.Mark) {
	w := sim.New(sim.Zero{})
	d, s, p := thing(), thing(ownedBy(deployment)), thing(ownedBy(set))
	put := func(r sim.Record) int {
		index := 0
		w.Do(r.Verb, func() { index = w.Record(r).Index })
		return index
	}
	create := func(r sim.Ref, o metav1.Object) {
		put(sim.Record{Op: sim.Commit, Cause: -1, Process: "user", Verb: "create", Object: r, After: o})
	}
	create(deployment, d)
	create(set, s)
	create(pod, p)
	put(sim.Record{Op: sim.FaultHit, Cause: -1, Process: "deployment", Verb: "hold", Reason: "Deployment"})
	going := thing()
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	del := put(sim.Record{Op: sim.Commit, Cause: -1, Process: "user", Verb: "delete", Object: deployment, Before: d,
		After: going})
	free := thing()
	freed := put(
		sim.Record{Op: sim.Commit, Cause: del, Process: "gc", Verb: "patch", Object: set, Before: s, After: free})
	put(sim.Record{Op: sim.Commit, Cause: freed, Process: "gc", Verb: "patch", Object: deployment, Before: going})
	w.Clock.Advance(5 * time.Millisecond)
	again := thing(ownedBy(deployment))
	adopted := put(
		sim.Record{Op: sim.Commit, Cause: freed, Process: "deployment", For: deployment, SawFor: d, Verb: "patch",
			Object: set, Before: free, Saw: free, After: again})
	put(sim.Record{Op: sim.Commit, Cause: adopted, Process: "deployment", For: deployment, Subresource: "status",
		Verb: "update", Object: set, Before: again, After: again})
	for range 3 {
		w.Clock.Advance(time.Second)
		put(sim.Record{Op: sim.Refusal, Cause: adopted, Process: "deployment", For: deployment, Verb: "update",
			Object: deployment, Code: 404, Reason: "NotFound", Message: "404 NotFound"})
	}
	gone := put(sim.Record{Op: sim.Commit, Cause: adopted, Process: "gc", Verb: "delete", Object: set, Before: again})
	return &w.History,
		render.Mark{Record: gone, Law: "orphans-survive",
			Sentence: "An object that was orphaned on purpose is not deleted.",
			Source:   "a document, its section", Text: "owner absent"}
}

// golden compares a text with a file in testdata. With the flag -update it rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; it is\n%s\nwant\n%s", name, got, want)
	}
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > render.Width {
			t.Errorf("%s: a line has %d columns:\n%s", name, n, line)
		}
		if strings.TrimRight(line, " \n")+"\n" != line {
			t.Errorf("%s: a line ends in spaces: %q", name, line)
		}
	}
}

func TestTimeline(t *testing.T) {
	h, b := orphan()
	lines := render.Timeline(h, render.Options{From: 3, Violations: []render.Mark{b}})
	golden(t, "timeline.txt", render.Text(lines))
	if w, r := render.Counts(lines); w != 5 || r != 3 {
		t.Errorf("%d writes and %d refusals, want 5 and 3", w, r)
	}
	if n := len(render.Timeline(h, render.Options{From: 3, Verbose: true})); n != len(lines)+1 {
		t.Errorf("verbose has %d lines, want one more than %d", n, len(lines))
	}
}

func TestPage(t *testing.T) {
	h, b := orphan()
	p := render.NewPage(h, b, 3)
	p.Title, p.Small, p.Replay = "orphan/stale-view",
		"2 of 40 choices differ from the default schedule; minimal",
		"threelaws replay f.txtar"
	golden(t, "page.txt", p.Text())
	if p.Step() == 0 {
		t.Error("the page has no violating line")
	}
}

func TestTree(t *testing.T) {
	node := ref("Node", "n")
	objs := []render.Object{
		{Ref: deployment},
		{Ref: set, Owners: []render.Owner{{Ref: deployment, Controller: true}}},
		{Ref: pod, Owners: []render.Owner{{Ref: set, Controller: true}, {Ref: node}}, Deleting: true},
		{Ref: ref("Pod", "web-1-2"), Owners: []render.Owner{{Ref: set}}},
		{Ref: ref("Pod", "lost"), Owners: []render.Owner{{Ref: ref("ReplicaSet", "gone"), Controller: true}}},
		{Ref: ref("ConfigMap", "a"), Owners: []render.Owner{{Ref: ref("ConfigMap", "b")}}},
		{Ref: ref("ConfigMap", "b"), Owners: []render.Owner{{Ref: ref("ConfigMap", "a")}}},
	}
	golden(t, "tree.txt", render.Tree(objs))
	golden(t, "owners.dot", render.DOT(objs, nil))
	if got := len(render.Related(objs, deployment)); got != 4 {
		t.Errorf("%d objects are related to the Deployment, want 4", got)
	}
}

// Cycle finds lines that repeat if generated names are ignored. Creations without deletions are no cycle.
func TestCycle(t *testing.T) {
	var lines []render.Line
	add := func(who, verb, object string) {
		lines = append(lines,
			render.Line{N: len(lines) + 1, Who: who, Verb: verb, Object: object, Write: true, Count: 1})
	}
	add("rs/a", "delete", "pod/x")
	for _, name := range []string{"pod/b-1", "pod/b-2", "pod/b-3"} {
		add("rs/b", "create", name)
		add("rs/a", "delete", name)
	}
	if first, last, ok := render.Cycle(lines); first != 2 || last != 3 || !ok {
		t.Errorf("cycle is %d-%d, %v; want 2-3", first, last, ok)
	}
	lines = nil
	for range 50 {
		add("rs/b", "create", "pod/b-1")
	}
	if first, last, ok := render.Cycle(lines); ok {
		t.Errorf("creations alone are no fight, but the cycle %d-%d was found", first, last)
	}
}

func TestTable(t *testing.T) {
	var tab render.Table
	long := strings.Repeat("word ", 40)
	tab.Add("a", "bb", long)
	tab.Add("aaa", "b", "c\n\td")
	tab.Note("note " + long)
	golden(t, "table.txt", tab.String())
	golden(t, "fold.txt", render.Fold(long+strings.Repeat("x", 20)))
}

func TestColor(t *testing.T) {
	text := "  1  0s  rs/a  delete  pod/p  VIOLATES x\n  2  0s  plain\n"
	got := render.Color(text)
	if !strings.Contains(got, "\x1b[31m") || strings.Count(got, "\x1b[") != 2 {
		t.Errorf("coloured text is %q", got)
	}
}

// Short timelines leave out the Normal Events of programs. They show Warnings, and Events by the user.
func TestRecordedEvents(t *testing.T) {
	for _, c := range []struct {
		process, kind string
		verbose       bool
		want          int
	}{{"operator", "Normal", false, 0}, {"operator", "Normal", true, 1}, {"operator", "Warning", false, 1},
		{"user", "Normal", false, 1}} {
		h := &sim.History{Records: []sim.Record{{Op: sim.Commit, Process: c.process, Verb: "create",
			After: &corev1.Event{Type: c.kind}, Object: sim.Ref{Kind: "Event", Namespace: "default", Name: "a"}}}}
		if lines := render.Timeline(h, render.Options{Verbose: c.verbose}); len(lines) != c.want {
			t.Errorf("%+v: %d lines", c, len(lines))
		}
	}
}

// A page shows the lines that concern the failure. Its text says that it leaves out Leases, Events, repeated refusals
// and long values. Whole shows them.
func TestBriefStory(t *testing.T) {
	const refused = `Operation cannot be fulfilled on configmaps "shared": the object has been modified; please apply your ` +
		`changes to the latest version and try again`
	old, now := configMap(map[string]string{"v": "1"}), configMap(map[string]string{"v": strings.Repeat("long ", 100)})
	at := 5*time.Minute + 39998222*time.Nanosecond
	records := []sim.Record{
		{Op: sim.Commit, Process: "op", Verb: "create", Object: ref("Lease", "0ab1.example.com"), After: old},
		{Op: sim.Commit, Process: "op", Verb: "create", Object: ref("Event", "shared.14a7"), After: old},
		{Op: sim.Refusal, Process: "op", Verb: "get", Object: ref("ConfigMap", "none"), Code: 404, Reason: "NotFound"},
	}
	for range 4 {
		records = append(records, sim.Record{Op: sim.Refusal, Process: "op", Verb: "update", Object: shared, Code: 409,
			Reason: "Conflict", Message: refused, At: at},
			sim.Record{Op: sim.Commit, Process: "op", Verb: "update", Object: shared, Before: old, After: now, At: at})
	}
	p := render.NewPage(tape(records...), render.Mark{Law: "keep-quiet", Text: "cm/shared is written", Record: 10}, 0)
	golden(t, "brief.txt", p.Text())
	whole := strings.Join(strings.Fields(p.Whole(render.Width)), " ")
	for _, has := range []string{"lease/0ab1.example.com", "ev/shared.14a7", "please apply your changes to the latest version", "5m0.039998222s"} {
		if !strings.Contains(whole, has) {
			t.Errorf("the whole page does not contain %q:\n%s", has, whole)
		}
	}
}

// The text page of any run fits on two screens.
func TestPageIsBounded(t *testing.T) {
	var records []sim.Record
	for i := range 400 {
		o := ref("ConfigMap", fmt.Sprintf("a-name-that-takes-many-columns-of-the-table-%d", i%40))
		o.Namespace = "a-namespace-with-a-name"
		records = append(records, sim.Record{Op: sim.Commit, Process: "op", Verb: "update", Object: o,
			Before: configMap(nil), After: configMap(map[string]string{"v": fmt.Sprint(i)})},
			sim.Record{Op: sim.Refusal, Process: "op", Verb: "update", Object: o, Code: 422, Reason: "Invalid",
				Message: strings.Repeat("a text that goes on ", i%90)},
			sim.Record{Op: sim.SyncEnd, Process: "op", For: o, Message: strings.Repeat("an error that goes on ", 90)})
	}
	for record, law := range map[int]string{len(records) - 3: "keep-quiet", 600: "keep-quiet", 900: "always-settle"} {
		p := render.NewPage(tape(records...), render.Mark{Law: law, Text: "is written", Record: record}, 0)
		log := render.Printed{Process: "op"}
		for i := range 200 {
			log.Lines = append(log.Lines, fmt.Sprintf("ERROR\t%d %s", i, strings.Repeat("a line that goes on ", 30)),
				fmt.Sprintf("INFO\t%d %s", i, strings.Repeat("a line that goes on ", 30)))
		}
		p.Printed = []render.Printed{log, log}
		if n := strings.Count(p.Text(), "\n"); n > 120 {
			t.Errorf("the page of record %d has %d lines:\n%s", record, n, p.Text())
		}
	}
}

// A refused flag is an error, even if the usage of the program follows.
func TestDigestOfUsage(t *testing.T) {
	for _, want := range []string{"flag provided but not defined: -listen", "unknown flag: --listen", "flag needs an argument: -listen",
		"unknown shorthand flag: 'l' in -l", `invalid value "x" for flag -n: parse error`, `invalid boolean value "x" for -b: parse error`,
		`invalid argument "x" for "--n" flag: strconv.ParseInt: parsing "x": invalid syntax`} {
		errors, others := render.Digest([]string{"starts", want, "Usage of manager:", "  -n int", "    \tthe number of workers"})
		if len(errors) != 1 || errors[0] != want || len(others) != 4 {
			t.Errorf("errors %q, others %q; want the error %q", errors, others, want)
		}
	}
}

// Lines of go test are no output of the program.
func TestDigestOfATest(t *testing.T) {
	errors, others := render.Digest([]string{"=== RUN   TestOperator", "Run returned: no widget", "=== CONT  TestOperator"})
	if len(errors) > 0 || !slices.Equal(others, []string{"Run returned: no widget"}) {
		t.Errorf("errors %q, others %q", errors, others)
	}
}

// A JSON line may be truncated, for example in its stack trace. It is an error all the same.
func TestDigestOfTruncatedJSON(t *testing.T) {
	line := `{"level":"error","time":"2017-03-01T00:00:00Z","msg":"Reconciler error","n":3,"error":"no \"web\"","stacktrace":"main.main\n\t/a/ma`
	errors, others := render.Digest([]string{line, `{"level":"info","msg":"starts","at":"a`, `{"a":"b","cut`})
	if !slices.Equal(errors, []string{`ERROR Reconciler error: no "web"`}) || !slices.Equal(others, []string{"INFO starts", `{"a":"b","cut`}) {
		t.Errorf("errors %q, others %q", errors, others)
	}
	if message, times := render.LastError([]string{line, line}); times != 2 {
		t.Errorf("the last error is %q, %d times", message, times)
	}
}

// A long error keeps its end, where a wrapped error has its cause.
func TestDigestKeepsTheCause(t *testing.T) {
	cause := `widgets.example.com "other" not found`
	errors, _ := render.Digest([]string{"2017-03-01T00:00:00Z\tERROR\tReconciler error\t{\"error\": \"" +
		strings.Repeat("could not create it: ", 20) + strings.ReplaceAll(cause, `"`, `\"`) + "\"}"})
	if len(errors) != 1 || !strings.HasPrefix(errors[0], "ERROR Reconciler error: could not ") || !strings.HasSuffix(errors[0], cause) ||
		len(errors[0]) != 240 {
		t.Errorf("got %q", errors)
	}
}

// A retry may log other messages after its error. Messages that come only once end the retries.
func TestLastErrorOfARetry(t *testing.T) {
	retry := []string{"ERROR no such host", "INFO nodes are starting"}
	for _, c := range []struct {
		then []string
		want int
	}{{nil, 2}, {[]string{"INFO it runs"}, 0}, {[]string{"INFO nodes are starting", "INFO nodes are starting"}, 2},
		{[]string{"ERROR another"}, 1}, {[]string{"ERROR no such host, attempt 7", "ERROR no such host, attempt 8"}, 2}} {
		if message, times := render.LastError(slices.Concat([]string{"INFO it runs"}, retry, retry, c.then)); times != c.want {
			t.Errorf("after %q: %q %d times, want %d", c.then, message, times, c.want)
		}
	}
}

// A program's errors come first. Stack traces are left out. Structured lines keep only message and error.
func TestDigest(t *testing.T) {
	lines := strings.Split(`2017-03-01T00:00:00Z	INFO	Starting workers	{"controller": "memcached", "worker count": 1}
2017-03-01T00:00:00Z	ERROR	Reconciler error	{"controller": "memcached", "reconcileID": "99881fc3", "error": "no such secret"}
sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller[...]).reconcileHandler
	/home/me/go/pkg/mod/sigs.k8s.io/controller-runtime@v0.22.4/pkg/internal/controller/controller.go:474
sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller[...]).Start.func1.1
	/home/me/go/pkg/mod/sigs.k8s.io/controller-runtime@v0.22.4/pkg/internal/controller/controller.go:296
2017-03-01T00:01:00Z	ERROR	Reconciler error	{"controller": "memcached", "reconcileID": "11111111", "error": "no such secret"}
E0301 00:00:01.000000       7 leaderelection.go:441] "Failed to update lease" err="leases \"a\" is forbidden" lock="a"
I0301 00:00:02.000000       7 main.go:12] "It runs"
2017-03-01T00:00:02Z	ERROR	unable to create Job	{"job": {"a": 1}, "error": "jobs \"a\" exists", "cut
2017-03-01T00:00:02Z	ERROR	Reconciler error	{"error": "jobs \"a\" exists"}
{"level":"error","ts":"2017-03-01T00:00:03Z","msg":"cannot dial","error":"refused","stacktrace":"main.main\n\t/a/main.go:3"}
time=2017-03-01T00:00:04Z level=ERROR msg="it failed"
plain text`, "\n")
	errors, others := render.Digest(lines)
	if want := []string{`ERROR Reconciler error: no such secret (2 times)`,
		`Failed to update lease: leases "a" is forbidden`, `ERROR unable to create Job: jobs "a" exists`,
		`ERROR cannot dial: refused`,
		`time=2017-03-01T00:00:04Z level=ERROR msg="it failed"`}; !slices.Equal(errors, want) {
		t.Errorf("errors %q, want %q", errors, want)
	}
	if want := []string{"INFO Starting workers", "It runs", "plain text"}; !slices.Equal(others, want) {
		t.Errorf("others %q, want %q", others, want)
	}
	again := "ERROR Reconciler error: no such secret"
	for n, want := range map[int]string{0: "", 1: "", 2: again + " 1", 6: again + " 1", 7: again + " 2", 9: "", len(lines): ""} {
		message, times := render.LastError(lines[:n])
		if got := strings.TrimSuffix(fmt.Sprintf("%s %d", message, times), " 0"); got != want {
			t.Errorf("the last error of the first %d lines is %q, want %q", n, got, want)
		}
	}
}
