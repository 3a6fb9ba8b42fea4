package generated_test

import (
	"flag"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

// enough worlds, with the further ones, contain every cause.
const enough = 160

var seeds = flag.Int("seeds", enough, "in how many worlds of each controller the laws are asked")

// subjects are the controllers with generated worlds.
var subjects = []*subject{&jobs, &statefulSets, &deployments, &daemonSets, &replicaSets, &replicationControllers,
	&endpoints, &cronJobs}

// asked are the laws in these worlds, in which a user may do anything: all but those on settling, since a world ends
// after some steps.
var asked = slices.DeleteFunc(law.All(), func(l *law.Law) bool { return l.Name == "come-to-rest" })

// further are additional worlds: those with an earlier false positive, and those with a rare cause.
var further = map[string][]uint64{
	"job": {230, 352, 370, 977, 1268, 1535}, "cronjob": {201, 382, 1608}, "daemonset": {669, 687, 1786},
	"statefulset":   {384, 483, 1325, 1419, 1465, 1476, 1505, 1547, 1552, 1671},
	"endpointslice": {183, 260, 322},
	"replication":   {947, 1312, 1984},
	"deployment":    {612, 949, 1894, 1924, 1959},
}

// TestWorldsKeepTheLaws runs worlds of each controller, in its current era, under the laws. The laws were not written
// with these worlds in mind. Every violation has a cause in a table, and every cause of the table occurs.
func TestWorldsKeepTheLaws(t *testing.T) {
	judged, all, worlds := atomic.Int32{}, 0, *seeds
	if testing.Short() {
		worlds = min(worlds, enough/10)
	}
	t.Cleanup(func() {
		if int(judged.Load()) < all || worlds < enough {
			t.Log("not asked: whether each cause is met, since these are not all worlds")
			return
		}
		allMet(t)
	})
	for _, s := range subjects {
		list := append(slices.Collect(first(worlds)), further[s.name]...)
		all += len(list)
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range list {
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
					s.judge(t, seed)
					judged.Add(1)
				})
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

// judge reports the first violation without a known cause in the world of a seed.
func (s *subject) judge(t *testing.T, seed uint64) {
	w := play(t, s, seed, asked...)
	for _, b := range w.Judge.Breaches() {
		if b.Strength == law.Committed || w.explained(&b) {
			continue
		}
		t.Errorf("%s\n%s", b, render.NewPage(&w.World.History, render.MarkOf(b), 0).Text())
		break
	}
}
