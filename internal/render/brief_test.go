package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// A page shows what a failure is about. Its text leaves out Leases, Events, repeated refusals and long values, and says
// so. The whole page has them.
func TestBriefStory(t *testing.T) {
	const refused = `Operation cannot be fulfilled on configmaps "shared": the object has been modified; please apply your ` +
		`changes to the latest version and try again`
	old, now := configMap(map[string]string{"v": "1"}), configMap(map[string]string{"v": strings.Repeat("long ", 100)})
	at := 5*time.Minute + 39998222*time.Nanosecond
	records := []sim.Record{
		{Op: sim.Commit, Process: "op", Verb: "create", Object: ref("Lease", "0ab1.example.com"), After: old},
		{Op: sim.Commit, Process: "op", Verb: "create", Object: ref("Event", "shared.14a7"), After: old},
	}
	for range 4 {
		records = append(records, sim.Record{Op: sim.Refusal, Process: "op", Verb: "update", Object: shared, Code: 409,
			Reason: "Conflict", Message: refused, At: at},
			sim.Record{Op: sim.Commit, Process: "op", Verb: "update", Object: shared, Before: old, After: now, At: at})
	}
	p := render.NewPage(tape(records...), render.Mark{Law: "keep-quiet", Text: "cm/shared is written", Record: 9}, 0)
	golden(t, "brief.txt", p.Text())
	whole := strings.Join(strings.Fields(p.Whole(render.Width)), " ")
	for _, has := range []string{"lease/0ab1.example.com", "ev/shared.14a7", "please apply your changes to the latest version", "5m0.039998222s"} {
		if !strings.Contains(whole, has) {
			t.Errorf("the whole page does not tell %q:\n%s", has, whole)
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
	for record, law := range map[int]string{len(records) - 3: "keep-quiet", 600: "keep-quiet", 900: "come-to-rest"} {
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

// A program's errors come first. Stack traces are left out, and structured lines keep only the message and the error.
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
}
