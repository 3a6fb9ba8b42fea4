package generated_test

import (
	"flag"
	"iter"
	"slices"
	"strconv"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

var seeds = flag.Int("seeds", 40, "in how many worlds of each controller the laws are asked")

// asked are the laws that hold in these worlds, in which a user does what he likes: all but those
// on coming to rest, since a world is cut off after some steps.
var asked = slices.DeleteFunc(law.All(), func(l *law.Law) bool { return l.Name == "come-to-rest" })

// verdict is of a controller that does as upstream's does, in the world of a seed.
type verdict struct {
	controller string
	seed       uint64
	law        string
	why        string
}

// open are the verdicts that are right though the controller is as upstream's: what upstream's own
// does there breaks the law, too.
var open = []verdict{
	{"replication", 31, "never-hang",
		"a pod that it has made, and that another of the name has replaced before it was " +
			"shown, is expected for five minutes"},
	{"deployment", 29, "stay-within-bounds",
		"it has neither expectations nor a look at what it wrote: of a ReplicaSet " +
			"that it is yet to be shown it knows nothing"},
	{"daemonset", 2, "one-for-each-identity",
		"where somebody has emptied the label of the revision that says its hash, " +
			"the pods of it cannot be told from those that say none"},
	{"cronjob", 33, "dont-share",
		"a Job that a user took from it stays in its status as long as one of the name is there"},
	{"cronjob", 35, "status-only-when-going", "reads the CronJob live for a Job that is not in its status, sees that " +
		"it is going, and looks no more at what it read"},
	{"garbagecollector", 7, "resolve-the-unseen", itself},
	{"garbagecollector", 11, "resolve-the-unseen", itself},
	{"garbagecollector", 17, "resolve-the-unseen", itself},
	{"garbagecollector", 166, "resolve-the-unseen", itself},
	{"garbagecollector", 51, "collect-the-ownerless", "a reference that keeps its uid and changes its name is none " +
		"that is new (graph_builder.go, referencesDiffs)"},
}

const itself = "an object that owns itself waits for itself, for ever (gc/self-Foreground)"

// acquitted are worlds beyond the first ones in which a right controller was once accused.
var acquitted = map[string][]uint64{
	"job": {50, 64, 107, 157, 230}, "statefulset": {43, 70, 125}, "daemonset": {113}, "disruption": {47, 59},
	"namespace":     {42, 54},
	"endpointslice": {51, 95, 183}, "garbagecollector": {51, 61, 90, 92, 129, 133, 139, 147, 150, 166},
}

// TestWorldsKeepTheLaws runs worlds of today's generation of each controller under the laws.
// Nobody thought of these worlds when the laws were written.
func TestWorldsKeepTheLaws(t *testing.T) {
	for _, s := range subjects {
		today := *s
		today.generations = s.generations[len(s.generations)-1:]
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range append(slices.Collect(first(*seeds)), acquitted[s.name]...) {
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { today.judge(t, seed) })
			}
		})
	}
}

// first are the seeds from 0 on.
func first(n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for seed := range uint64(n) {
			if !yield(seed) {
				return
			}
		}
	}
}

func (s *subject) judge(t *testing.T, seed uint64) {
	w := play(t, s, seed, *tell, asked...)
	if w.broken {
		return // what the server would not have taken it may break its head over
	}
	i := slices.IndexFunc(open, func(v verdict) bool { return v.controller == s.name && v.seed == seed })
	b := w.Broken()
	switch {
	case i < 0 && b == nil:
	case i < 0:
		t.Errorf("%s\n%s", b, render.NewPage(&w.World.History, render.MarkOf(*b), 0).Text())
	case b == nil || b.Law.Name != open[i].law:
		t.Errorf("%v, want %s: %s", b, open[i].law, open[i].why)
	}
	if *tell {
		t.Log(w.text.String())
	}
}
