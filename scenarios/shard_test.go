package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// searchedBy explores all schedules of a file with this number of shards, and merges the results. It also returns the
// number of states of each shard that found any. If the search does not end in time, the result is nil.
func searchedBy(t *testing.T, f *scenarios.File, shards int, most time.Duration) (r *campaign.Result, busy []int) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	for i := range shards {
		_, err := scenarios.Explore(ctx, f, -1, builtin.Registry(), scenarios.ExploreOptions{Strategy: "exhaustive", Budget: 1,
			Results: dir, Shard: campaign.Shard{I: i, N: shards}})
		if err != nil {
			t.Fatal(f.Name, err)
		}
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	var m campaign.Merge
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range files {
		var alone campaign.Merge
		must(t, errors.Join(m.ReadFile(path), alone.ReadFile(path)))
		if n, _ := alone.Results[0].Seen.Len(); n > 0 {
			busy = append(busy, n)
		}
	}
	return m.Results[0], busy
}

// The merged result of shards has the same states and violations as one search. This is tested with three shards of a
// few worlds. With SOAK, it is tested with eight shards of each world that has fewer than twenty objects and is
// searched within a minute.
func TestExhaustiveShardsAreOneSearch(t *testing.T) {
	paths := []string{"testdata/orphan/late-dependent-exhaustively.txtar", "testdata/overlap/adoption-lost.txtar",
		"testdata/orphan/dependent-seen-during-the-orphan-pass.txtar"}
	shards, most := 3, 10*time.Minute
	if os.Getenv("SOAK") != "" {
		shards, most, paths = 8, time.Minute, nil
		_ = filepath.WalkDir("testdata", func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".txtar") {
				paths = append(paths, path)
			}
			return err
		})
	}
	compared, divided := 0, 0
	for _, path := range paths {
		f, err := scenarios.Load(path)
		must(t, err)
		if strings.Count("\n"+string(f.Format()), "\nkind:") >= 20 || strings.Contains(string(f.Format()), "\ninstall ") {
			continue
		}
		one, _ := searchedBy(t, f, 1, most)
		if one == nil || !one.Complete() {
			continue
		}
		many, busy := searchedBy(t, f, shards, time.Duration(shards)*most)
		if many == nil {
			t.Errorf("%s: %d shards take more than %d times as long as one", path, shards, shards)
			continue
		}
		compared++
		laws := func(r *campaign.Result) (ids []string) {
			for _, f := range r.Failures {
				ids = append(ids, fmt.Sprint(f.ID, f.Informed))
			}
			slices.Sort(ids)
			return slices.Compact(ids)
		}
		n, _ := one.Seen.Len()
		got, _ := many.Seen.Len()
		union := one.Seen
		union.Join(many.Seen)
		both, _ := union.Len()
		if !many.Complete() || got != n || both != n || !slices.Equal(laws(one), laws(many)) ||
			!slices.Equal(slices.Sorted(maps.Keys(one.Outcomes)), slices.Sorted(maps.Keys(many.Outcomes))) {
			t.Errorf("%s: %d shards have %d states, %q and %v; one has %d (together %d), %q and %v", path, shards, got,
				laws(many), many.Outcomes, n, both, laws(one), one.Outcomes)
		}
		if len(busy) > 1 {
			divided++
		}
		t.Logf("%s: %d states, those of each shard: %v", path, n, busy)
	}
	if compared < 3 || divided < compared/2 {
		t.Errorf("compared %d worlds, of which %d were divided", compared, divided)
	}
}

// After each step of the page, Likely contains how often the failure still happens. After the last step it is certain.
func TestLikely(t *testing.T) {
	f := parse(t, "controllers replicaset@selector replication@selector\napply world.yaml\nsettle\n")
	x, err := scenarios.Explore(t.Context(), f, -1, registry(), scenarios.ExploreOptions{Schedules: 30, Likely: time.Minute,
		Laws: []string{"take-ownership"}})
	if err != nil || len(x.Failures) == 0 {
		t.Fatal(err, x)
	}
	c := x.Failures[0]
	last := c.Likely[len(c.Likely)-1]
	if c.Likely[0].Line != 0 || c.Likely[0].How.Of != 200 || last.How.Failed != last.How.Of {
		t.Errorf("%+v", c.Likely)
	}
	if !strings.Contains(c.Page.Small, "how likely the failure still was, by 200 random continuations: at the start ") ||
		!strings.Contains(c.Page.Small, fmt.Sprintf("in %d of 30 schedules", c.Often.Failed)) {
		t.Errorf("it says %s", c.Page.Small)
	}
}

// interrupted is a context that is canceled by left calls of Err after a call of begin.
type interrupted struct {
	context.Context
	left  int
	begun bool
}

func (c *interrupted) begin(*scenarios.Counterexample) { c.begun = true }

func (c *interrupted) Err() error {
	if !c.begun {
		return nil
	}
	if c.left--; c.left >= 0 {
		return nil
	}
	return context.Canceled
}

// An interrupt ends the random continuations of a failure. The text has the real number of them.
func TestInterruptedLikely(t *testing.T) {
	f := parse(t, "controllers replicaset@selector replication@selector\napply world.yaml\nsettle\n")
	ctx := &interrupted{Context: t.Context(), left: 20}
	x, err := scenarios.Explore(ctx, f, -1, registry(), scenarios.ExploreOptions{Schedules: 30, Likely: time.Hour,
		Laws: []string{"take-ownership"}, Raw: ctx.begin})
	if err != nil || len(x.Failures) == 0 {
		t.Fatal(err, x)
	}
	c := x.Failures[0]
	if n := c.Likely[0].How.Of; n == 0 || n > 20 || c.Likely[1].How.Of > 0 ||
		!strings.Contains(c.Page.Small, fmt.Sprintf("by %d or more random continuations: at the start ", n)) {
		t.Errorf("%+v: %s", c.Likely, c.Page.Small)
	}
}

// An interrupted shard does not finish the violation that it minimizes. The shard minimizes it when it continues.
func TestInterruptedMinimizing(t *testing.T) {
	f := parse(t, "controllers replicaset@selector replication@selector\napply world.yaml\nsettle\n")
	o := scenarios.ExploreOptions{Schedules: 30, Results: t.TempDir(), Laws: []string{"take-ownership"}}
	for _, left := range []int{3, 1_000_000} {
		ctx := &interrupted{Context: t.Context(), left: left}
		o.Accept = func(c *scenarios.Counterexample) string { ctx.begin(c); return "" }
		x, err := scenarios.Explore(ctx, f, -1, registry(), o)
		if err != nil {
			t.Fatal(err)
		}
		var m campaign.Merge
		must(t, m.ReadFile(x.Results))
		if failures := m.Results[0].Failures; len(failures) != 1 || (failures[0].Story != nil) != (left > 3) {
			t.Errorf("%d calls before the interrupt: %+v", left, failures)
		}
	}
}
