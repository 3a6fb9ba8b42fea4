package hosted_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

const (
	// between is the time between two acts. All worlds settle within this time, so each act happens at the same time
	// in all runs. A failed key may be retried after 1000 s, and then seven minutes must pass without a step.
	between = 30 * time.Minute

	drawnWorlds = 200 // number of random worlds; with SOAK a tenth of SOAK, if that is more
	shortWorlds = 60  // in a short run
	apartWorlds = 100 // how many of them are tried with mutants; the first 300 with SOAK
)

// told describes the end of a world, and counts the writes of the controllers, without Events.
type told struct {
	end
	writes  int
	divides bool // it panicked, see the finding replicaset-divides-by-an-age
}

// play plays the world with the controllers of a registry. instead replaces some of them. Controllers that are not
// programs run with this number of workers; 0 means one.
func (d *drawing) play(t rapid.TB, g *scenarios.Registry, instead map[string]host.Controller, workers int,
	c sim.Choices) (e told) {
	w := trial.New(trial.Options{Choices: c})
	defer w.Stop()
	for _, name := range d.started {
		c, wrong := g.Controller(name)
		if wrong != "" {
			t.Fatal(wrong)
		}
		if other, is := instead[name]; is {
			c = other
		}
		if !c.Hosted() {
			c.Workers = workers
		}
		w.Start(name, c)
	}
	for i, a := range d.acts {
		switch left := time.Duration(i)*between - w.World.Clock.Elapsed(); {
		case left > 0:
			w.World.Clock.Advance(left)
		case left < 0 && !e.unsettled:
			t.Fatalf("%s settled %v after the time of its next act", d, -left)
		}
		if err := a.on(w); err != nil {
			t.Fatal(err)
		}
		e.unsettled = e.unsettled || !w.Settle(trial.Limits{Steps: 50_000}).Settled
	}
	broken := map[string]bool{}
	for _, b := range w.Judge.Violations() {
		if b.Strength == law.Informed {
			broken[b.Law.ID] = true
			e.divides = e.divides || strings.HasSuffix(b.Text, "divide by zero, at replicaset/replica_set.go:967")
		}
	}
	e.law = strings.Join(slices.Sorted(maps.Keys(broken)), " ")
	if err := ends(&e.state, detail)(w.Cluster.Client(law.User)); err != nil {
		t.Fatal(err)
	}
	for i := range w.World.History.Records {
		r := &w.World.History.Records[i]
		if r.Op == sim.Commit && slices.Contains(d.started, r.Process) && r.Object.Kind != "Event" {
			e.writes++
		}
	}
	return e
}

// neverRests reports whether a controller goes on forever: the world does not settle, or a law says so. If a name is
// taken, a program retries the create with growing delays, so its world counts as settled. With our controller the
// world does not settle. WRITE-7 reports the program.
func (e *told) neverRests() bool {
	return e.unsettled || slices.ContainsFunc(strings.Fields(e.law), func(id string) bool {
		return slices.Contains([]string{"EXACT-7", "NOFIGHT-1", "WRITE-7", "WRITE-8"}, id)
	})
}

// likeness reports whether two runs came to the same end, with the same violated laws, and a similar number of writes:
// at most twice the other number plus ten. Two runs that never settle are alike, because their state at the end is
// random.
func (e *told) likeness(o *told) bool {
	if e.neverRests() && o.neverRests() {
		return true
	}
	return e.end == o.end && e.writes <= 2*o.writes+10 && o.writes <= 2*e.writes+10
}

// theirWorkers is the number of concurrent reconciles of most of upstream's controllers.
const theirWorkers = 5

// differs compares the end of upstream's controllers with the ends of ours, under the default schedule and some random
// ones. In every second run ours have as many workers as upstream's. If a run is alike, differs returns "" and the
// seed of this run.
func (d *drawing) differs(t rapid.TB, theirs told, instead map[string]host.Controller) (what string, seed uint64) {
	var all []told
	for seed = 0; seed <= ourSeeds; seed++ {
		is := d.play(t, ours(), instead, int(seed%2)*theirWorkers, choices(seed))
		if is.likeness(&theirs) {
			return "", seed
		}
		if !slices.Contains(all, is) {
			all = append(all, is)
		}
	}
	text := fmt.Sprintf("upstream's controllers end, after %d writes, in\n%s", theirs.writes, theirs)
	for _, is := range all[:min(len(all), 3)] {
		text += fmt.Sprintf("ours end, after %d writes, in\n%s", is.writes, is)
	}
	return text, seed
}

// finding returns the finding that explains why upstream's controllers differ from ours in this world, or "".
func (d *drawing) finding(theirs told) string {
	if theirs.divides {
		return "replicaset-divides-by-an-age"
	}
	if !strings.Contains(theirs.law, "NOFIGHT-3") {
		return ""
	}
	orphaned := map[string]bool{}
	for _, a := range d.acts {
		switch {
		case a.kind == "svc" && a.policy == metav1.DeletePropagationOrphan:
			orphaned[a.name] = true
		case strings.Contains(a.text, "kind: Service\n") && orphaned[nameIn.FindStringSubmatch(a.text)[1]]:
			return "endpointslice-leaves-its-slice-without-an-owner"
		}
	}
	return ""
}

var nameIn = regexp.MustCompile(`name: ([a-z0-9-]+)`)

// theirs plays the random world of a seed with upstream's controllers, once in a process.
func theirs(t rapid.TB, seed int) (*drawing, told) {
	type played struct {
		d *drawing
		e told
	}
	is, known := playedBefore.Load(seed)
	if !known {
		d := drawn.Example(seed)
		is = played{d, d.play(t, inTheirPlace(), nil, 0, sim.Zero{})}
		playedBefore.Store(seed, is)
	}
	return is.(played).d, is.(played).e
}

var playedBefore sync.Map // by seed

// In random worlds upstream's controllers and ours come to the same end, with about the same number of writes, and the
// laws report the same for both. Mutants of ours come to another end.
func TestDrawnWorlds(t *testing.T) {
	t.Run("same end", comparesDrawnWorlds)
	t.Run("mutants", tellsMutantsApart)
}

func comparesDrawnWorlds(t *testing.T) {
	worlds := max(drawnWorlds, soak()/10)
	if testing.Short() {
		worlds = shortWorlds
	}
	began, n, writes, unsettled, lawless, found, others := time.Now(), 0, 0, 0, 0, 0, 0
	for seed := range worlds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			d, theirs := theirs(t, seed)
			what, by := d.differs(t, theirs, nil)
			switch {
			case what != "" && d.finding(theirs) == "":
				t.Fatalf("%s%s", d, what)
			case what != "":
				found++
			case by > 0:
				others++
			}
			n, writes = n+1, writes+theirs.writes
			switch {
			case theirs.neverRests():
				unsettled++
			case theirs.law != "":
				lawless++
			}
		})
	}
	if n == worlds && (unsettled+found > n/50 || others > n/20 || writes < 5*n) {
		t.Errorf("of %d worlds %d never rest, %d end otherwise by a finding, %d not as by our default schedule, and "+
			"upstream's wrote %d times: that says little", n, unsettled, found, others, writes)
	}
	t.Logf("%d worlds, %d writes of upstream's, %d that never rest, %d others in which a law is violated, %d that end "+
		"otherwise by a finding, %d as by another schedule of ours than the default one, in %v", n, writes, unsettled,
		lawless, found, others, time.Since(began).Round(time.Second))
}

// toldApart lists mutants that end differently in the first random worlds, some of each compared controller.
var toldApart = []string{"replicaset/create-without-ref", "replicaset/takes-over", "replicaset/adopt-nothing",
	"deployment/create-without-ref", "statefulset/forgets-what-is-in-use", "daemonset/claim-foreign",
	"job/ignores-suspend", "job/runs-surplus", "endpointslice/create-without-ref", "gc/foreground-without-waiting",
	"gc/orphan-finalizer-first"}

// tellsMutantsApart tries mutants in the worlds: one of each compared controller, or all of them with SOAK. With SOAK
// it logs how many come to another end.
func tellsMutantsApart(t *testing.T) {
	worlds, found, tried := apartWorlds, 0, 0
	if long() {
		worlds = 300
	}
	for _, m := range ours().Mutants {
		must := slices.Contains(toldApart, m.Name)
		if !must && !long() {
			continue
		}
		tried++
		c := m.Make()
		apart := false
		for seed := 0; seed < worlds && !apart; seed++ {
			if d, theirs := theirs(t, seed); slices.Contains(d.started, c.Name) {
				what, _ := d.differs(t, theirs, map[string]host.Controller{c.Name: c})
				apart = what != ""
			}
		}
		if apart {
			found++
		} else if must {
			t.Errorf("%s ends like upstream's controllers in all %d worlds", m.Name, worlds)
		}
	}
	if found < len(toldApart) {
		t.Errorf("%d mutants end differently, fewer than %d: one may have been renamed", found, len(toldApart))
	}
	t.Logf("%d of %d mutants come to another end in %d worlds", found, tried, worlds)
}

// detail returns more properties of an object to compare at the end of a random world: its owner in this world, its
// images, its conditions, and the endpoints of an EndpointSlice. It omits the conditions of pods, because the kubelet
// determines their times.
func detail(o runtime.Object, all []runtime.Object) string {
	text := ""
	for _, ref := range o.(metav1.Object).GetOwnerReferences() {
		if strings.HasPrefix(ref.Name, "one-") || strings.HasPrefix(ref.Name, "two-") {
			if ref.Kind == "ReplicaSet" && madeBy(ref, all) {
				continue // its name is a hash of what made it
			}
			text += " " + ref.Name
		}
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	for _, at := range [][]string{{"spec", "containers"}, {"spec", "template", "spec", "containers"}} {
		containers, _, _ := unstructured.NestedSlice(raw, at...)
		for _, c := range containers {
			text += fmt.Sprint(" ", c.(map[string]any)["image"])
		}
	}
	if kind := fmt.Sprintf("%T", o); !strings.HasSuffix(kind, ".Pod") {
		conditions, _, _ := unstructured.NestedSlice(raw, "status", "conditions")
		said := []string{} // in the API, conditions are a map by type; their order shows only the order of changes
		for _, c := range conditions {
			m := c.(map[string]any)
			said = append(said, fmt.Sprintf(" %v=%v(%v)", m["type"], m["status"], m["reason"]))
		}
		slices.Sort(said)
		text += strings.Join(said, "")
	}
	if endpoints, is, _ := unstructured.NestedSlice(raw, "endpoints"); is {
		text += fmt.Sprintf(" %d endpoints", len(endpoints))
	}
	return text
}

func madeBy(ref metav1.OwnerReference, all []runtime.Object) bool {
	return slices.ContainsFunc(all, func(o runtime.Object) bool {
		m := o.(metav1.Object)
		return m.GetUID() == ref.UID && metav1.GetControllerOf(m) != nil
	})
}
