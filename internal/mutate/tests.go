package mutate

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/mutate/switches"
)

// testTime is how long the tests of a package may take, on a wall clock.
const testTime = 3 * time.Minute

// tryTests tries those that survive by the tests of a package.
func (b *Build) tryTests(fates []*Fate, of func(f *Fate) string, o *Options, say func(string, ...any)) error {
	var alive []*Fate
	paths := map[string]string{}
	for _, f := range fates {
		if f.Killed() {
			continue
		}
		pkg := of(f)
		if _, ok := paths[pkg]; !ok {
			path, err := b.Test(pkg)
			if err != nil {
				return err
			}
			paths[pkg] = path
		}
		if paths[pkg] != "" {
			alive = append(alive, f)
		}
	}
	if len(alive) == 0 {
		return nil
	}
	say("%d survivors, by tests of %s", len(alive), strings.Join(slices.Sorted(maps.Keys(paths)), ", "))
	s := &Suite{Processes: o.Processes}
	return s.each(len(alive), func(_ *worker, i int) error {
		f := alive[i]
		if why := b.test(paths[of(f)], of(f), f.ID); why != "" {
			f.By, f.Why = of(f)+" test", why
		}
		return nil
	})
}

// test runs the tests of a package with a mutation on, and says what fails.
func (b *Build) test(path, pkg string, mutation int) string {
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	c := exec.CommandContext(ctx, path, "-test.short", "-test.failfast", "-test.timeout", fmt.Sprint(testTime))
	c.Dir = filepath.Join(b.root, pkg)
	c.Env = append(os.Environ(), "GOMAXPROCS=1", switches.Env+"="+strconv.Itoa(mutation))
	out, err := c.CombinedOutput()
	if err == nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- FAIL") || strings.HasPrefix(line, "panic:") {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}
