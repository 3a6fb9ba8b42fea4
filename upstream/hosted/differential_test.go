package hosted_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// The number of random schedules of a world: with upstream's controllers, and with ours. Each end of a world with
// upstream's controllers must also occur with ours.
const (
	theirSeeds = 1
	ourSeeds   = 40
)

var kept = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "ReplicationController"}, {Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"}, {Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "apps", Version: "v1", Kind: "ControllerRevision"}, {Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "batch", Version: "v1", Kind: "CronJob"}, {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
}

// ends returns a function that describes the end of a world: the objects of each kind with owners, finalizers, numbers
// in the status, and the text of more. It omits names, uids and times.
func ends(into *string, more func(o runtime.Object, all []runtime.Object) string) scenarios.Func {
	return func(user host.Client) error {
		names, all := map[string]string{"": "nobody"}, []runtime.Object{}
		for _, gvk := range kept {
			list, err := user.List(context.Background(), gvk, "", metav1.ListOptions{})
			if err != nil {
				return err
			}
			for _, o := range list {
				m := o.(metav1.Object)
				names[string(m.GetUID())] = gvk.Kind
				all = append(all, o)
			}
		}
		counts := map[string]int{}
		for _, o := range all {
			text := row(o.(metav1.Object), names) + numbers(o)
			if more != nil {
				text += more(o, all)
			}
			counts[text]++
		}
		var b strings.Builder
		for _, r := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&b, "%3d %s\n", counts[r], r)
		}
		*into = b.String()
		return nil
	}
}

func row(m metav1.Object, kinds map[string]string) string {
	text := kinds[string(m.GetUID())]
	for _, ref := range m.GetOwnerReferences() {
		owner := kinds[string(ref.UID)]
		if owner == "" {
			owner = "missing " + ref.Kind
		}
		text += " of " + owner
	}
	if m.GetDeletionTimestamp() != nil {
		text += " going"
	}
	if f := m.GetFinalizers(); len(f) > 0 {
		text += " held by " + strings.Join(f, ",")
	}
	return text
}

// numbers returns the numbers in an object's status that are not zero, except generations.
func numbers(o runtime.Object) string {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var it struct{ Status map[string]any }
	if err := json.Unmarshal(raw, &it); err != nil {
		panic(err)
	}
	text := ""
	for _, k := range slices.Sorted(maps.Keys(it.Status)) {
		if n, ok := it.Status[k].(float64); ok && n != 0 && k != "observedGeneration" {
			text += fmt.Sprintf(" %s=%v", k, n)
		}
	}
	return text
}

// plain returns the world as a script that has expectations only at its end.
func (w *world) plain(t *testing.T) *scenarios.File {
	var b strings.Builder
	for _, s := range w.file.Steps[:w.until] {
		switch s.Verb {
		case "expect", "owners", "laws", "get", "timeline", "hash", "mutant", "explore", "judge", "predict":
			continue
		}
		b.WriteString(s.String() + "\n")
	}
	b.WriteString("settle\nensure ends\n")
	sections := strings.Split(string(w.file.Format()), "\n-- ")
	for _, s := range sections[1:] {
		name, _, _ := strings.Cut(s, " --")
		if dir, _, _ := strings.Cut(name, "/"); strings.Contains(b.String(), dir) {
			b.WriteString("\n-- " + s)
		}
	}
	f, err := scenarios.Parse(w.file.Name, []byte(b.String()))
	if err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	return f
}

type end struct {
	state, law string
	unsettled  bool
}

func (e end) String() string {
	return e.state + "laws violated: " + e.law + fmt.Sprintf("; when settled: %t\n", !e.unsettled)
}

func choices(seed uint64) sim.Choices {
	if seed == 0 {
		return sim.Zero{}
	}
	return sim.NewSeed(seed)
}

func (w *world) play(t *testing.T, g *scenarios.Registry, c sim.Choices) end {
	var e end
	g.Funcs = map[string]scenarios.Func{"ends": ends(&e.state, nil)}
	f := w.plain(t)
	if err := f.Check(g); err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	out := (&scenarios.Script{File: f, Registry: g, Until: len(f.Steps)}).Run(c)
	for _, b := range out.Findings {
		e.law += b.Law
	}
	e.unsettled = !out.Settled
	return e
}

// With upstream's controllers, every world of the library ends in the same state as with ours, under the default
// schedule and some random ones. The table lists the exceptions.
func TestUpstreamComesToTheSameEnd(t *testing.T) {
	all, _ := worlds(t)
	all = sample(all, 1)
	began, runs, unsettled := time.Now(), 0, 0
	for _, w := range all {
		if !strings.Contains(w.name, *only) {
			continue
		}
		at := time.Now()
		is := w.play(t, ours(), sim.Zero{})
		if is.unsettled {
			unsettled++
			continue
		}
		differs, reached := "", map[end]bool{is: true}
		for seed := range uint64(theirSeeds + 1) {
			runs++
			e := w.play(t, inTheirPlace(), choices(seed))
			for own := uint64(1); own <= ourSeeds && !reached[e]; own++ {
				reached[w.play(t, ours(), choices(own))] = true
			}
			if !reached[e] && differs == "" {
				differs = fmt.Sprintf("upstream's controllers end (seed %d) in\n%sours in\n%s", seed, e, is)
			}
		}
		switch why := differences[w.name]; {
		case differs != "" && why == "":
			t.Errorf("%s: %s", w.name, differs)
		case differs == "" && why != "":
			t.Errorf("%s: the table says that it ends differently (%s), but it does not", w.name, why)
		}
		if took := time.Since(at); took > 3*time.Second {
			t.Logf("%s took %v", w.name, took)
		}
	}
	t.Logf("%d worlds, %d of which do not settle with ours, %d runs of upstream's, in %v", len(all), unsettled, runs,
		time.Since(began).Round(time.Second))
}
