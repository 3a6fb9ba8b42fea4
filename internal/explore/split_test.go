package explore

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// notes collects the saved data of a search, in place of a result file.
type notes struct {
	mark  *Mark
	cover Coverage
	laws  map[string]int // for each law, the index of the first run that violates it
	runs  int
}

func (n *notes) save(m *Mark, c *Coverage) error {
	data, err := json.Marshal(m) // a field that is not in the JSON would be lost in a file too
	if err != nil {
		return err
	}
	next := &Mark{Table: m.Table, Finals: m.Finals}
	if err := json.Unmarshal(data, next); err != nil {
		return err
	}
	if n.mark == nil {
		n.mark = &Mark{}
	}
	n.mark.Add(next)
	n.cover = *c
	for _, f := range c.Failures {
		if first, ok := n.laws[f.Violation.Law]; !ok || f.Index < first {
			n.laws[f.Violation.Law] = f.Index
		}
	}
	return nil
}

func sameKeys(a, b map[string]int) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

func (n *notes) states(t *testing.T) map[uint64]bool {
	t.Helper()
	states, err := n.mark.States()
	if err != nil {
		t.Fatal(err)
	}
	set := map[uint64]bool{}
	for _, s := range states {
		set[s] = true
	}
	return set
}

// saved runs a search to its end.
func saved(t *testing.T, x Exhaust) *notes {
	t.Helper()
	n := &notes{laws: map[string]int{}}
	x.All, x.Save = true, n.save
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Together, the shards visit the same states and find the same violations as one search. Their parts are disjoint.
func TestShardsAreTheWholeSearch(t *testing.T) {
	divided := 0
	for seed := range worlds(12, 45) {
		toy := randomToy(seed)
		for _, early := range []int{0, 1} {
			whole := saved(t, Exhaust{Program: toy.run, Early: early})
			for _, shards := range []int{2, 3, 8} {
				states, laws := map[uint64]bool{}, map[string]int{}
				busy := 0
				for i := range shards {
					n := saved(t, Exhaust{Program: toy.run, Early: early, Shard: i, Shards: shards, partsPerShard: 2})
					maps.Copy(states, n.states(t))
					maps.Copy(laws, n.laws)
					if i > 0 && n.cover.Runs > 0 {
						busy++
					}
				}
				if busy > 0 {
					divided++
				}
				if want := whole.states(t); !maps.Equal(states, want) || !sameKeys(laws, whole.laws) {
					t.Fatalf("seed %d, early %d, %d shards: %d states and %v, want %d and %v", seed, early, shards, len(states),
						laws, len(want), whole.laws)
				}
			}
		}
	}
	if divided < 15 {
		t.Errorf("only %d searches were divided", divided)
	}
}

// A search that is repeatedly killed and continued from its marks has the same result as an uninterrupted search. If
// the sleep sets in the table or on the stack were lost, the numbers of pruned and sleeping runs would differ.
func TestKilledSearchContinues(t *testing.T) {
	killed, woken := 0, 0
	for seed := range worlds(10, 30) {
		toy := randomToy(seed)
		for _, x := range []Exhaust{
			{}, {Early: 1}, {Shard: 1, Shards: 2, partsPerShard: 2}, {Shard: 0, Shards: 2, partsPerShard: 2},
		} {
			x.Program = toy.run
			whole := saved(t, x)
			n := &notes{laws: map[string]int{}}
			var sum Coverage
			for lives := 0; n.mark == nil || !n.mark.Ended; lives++ {
				if lives > 10_000 {
					t.Fatalf("seed %d: the search does not end", seed)
				}
				runs, dead := 0, false
				n.cover = Coverage{}
				y := x
				y.All, y.Resume = true, n.mark
				y.Due = func() bool { runs++; return runs%2 == 0 }
				y.Save = func(m *Mark, c *Coverage) error {
					if dead {
						return nil // a killed process saves nothing more
					}
					return n.save(m, c)
				}
				y.Stop = func() string {
					if dead = runs >= 5; dead {
						killed++
						return "killed"
					}
					return ""
				}
				if _, err := y.Run(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				sum.Schedules += n.cover.Schedules
				sum.Runs += n.cover.Runs
				sum.Transitions += n.cover.Transitions
				sum.Pruned += n.cover.Pruned
				sum.Asleep += n.cover.Asleep
			}
			w := whole.cover
			if got, want := [5]int{sum.Schedules, sum.Runs, sum.Transitions, sum.Pruned, sum.Asleep},
				[5]int{w.Schedules, w.Runs, w.Transitions, w.Pruned, w.Asleep}; got != want {
				t.Fatalf("seed %d, shard %d of %d: schedules, runs, transitions, pruned, asleep are %v, want %v", seed, x.Shard,
					x.Shards, got, want)
			}
			if !maps.Equal(n.states(t), whole.states(t)) {
				t.Fatalf("seed %d: %d states, want %d", seed, len(n.states(t)), len(whole.states(t)))
			}
			if !maps.Equal(n.laws, whole.laws) {
				t.Fatalf("seed %d: laws %v, want %v", seed, n.laws, whole.laws)
			}
			woken += w.Asleep
		}
	}
	if killed < 60 || woken < 3 {
		t.Errorf("the test had only %d kills and %d sleeping runs", killed, woken)
	}
}

// Explorations of disjoint ranges of indexes have the same results as the whole exploration.
func TestRangesAreTheWholeExploration(t *testing.T) {
	for _, strategy := range []Strategy{Mixed, Random, Priorities} {
		c := Config{New: toys(adders(3, 2)), Runs: 400, Seed: 5, Strategy: strategy, All: true, Block: 100}
		whole, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		runs, failed, hashes, firsts := 0, 0, map[uint64]bool{}, []int{}
		for _, r := range [][2]int{{0, 100}, {100, 250}, {250, 400}} {
			part := c
			part.From, part.Runs = r[0], r[1]
			part.Save = func(rep *Drawn, list []uint64) error {
				if rep.From != runs {
					t.Errorf("a saved part begins at index %d, but %d runs were saved before", rep.From, runs)
				}
				runs, failed = runs+rep.Runs, failed+rep.Failed
				for _, h := range list {
					hashes[h] = true
				}
				for _, f := range rep.Failures {
					firsts = append(firsts, f.Index)
				}
				return nil
			}
			if rep, err := part.Run(t.Context()); err != nil || rep.Interrupted {
				t.Fatal(rep, err)
			}
		}
		if runs != whole.Runs || failed != whole.Failed || len(hashes) != whole.Distinct {
			t.Errorf("%s: %d runs, %d failed, %d distinct; want %d, %d, %d", strategy, runs, failed, len(hashes), whole.Runs,
				whole.Failed, whole.Distinct)
		}
		for _, f := range whole.Failures {
			if !slices.Contains(firsts, f.Index) {
				t.Errorf("%s: the failure of run %d is in no part: %v", strategy, f.Index, firsts)
			}
			if again := c.Again(f.Index); again == nil || again.Outcome.Hash != f.Outcome.Hash {
				t.Errorf("%s: run %d cannot be repeated", strategy, f.Index)
			}
		}
		if len(whole.Failures) < 3 {
			t.Errorf("%s: %d failures of four blocks", strategy, len(whole.Failures))
		}
	}
}
