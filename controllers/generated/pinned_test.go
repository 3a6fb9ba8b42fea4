package generated_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	update = flag.Bool("update", false, "rewrite what is pinned of the worlds")
	tell   = flag.Bool("story", false, "print the stories of the worlds that are run")
)

// subjects are the controllers that worlds are made for.
var subjects = []*subject{&jobs, &statefulSets, &deployments, &daemonSets, &replicaSets, &replicationControllers,
	&collectors, &endpoints, &cronJobs, &namespaces, &budgets,
	&podCollectors, &schedulers, &kubelets, &claimKeepers, &quotas, &ttls}

// toldWorlds is how many worlds of each controller have their stories kept.
const toldWorlds = 2

// TestWorlds runs the worlds of each controller, and compares what came of them.
func TestWorlds(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			if *update {
				s.pin(t)
			}
			for _, line := range s.pinned() {
				seed, _, _ := strings.Cut(line, " ")
				t.Run(seed, func(t *testing.T) { s.compare(t, seed, line) })
			}
		})
	}
}

func (s *subject) file() string { return "testdata/" + s.name + ".txt" }

// leastWrites is how much the controller does at the least in a world that is kept, leastApart one
// that owns no pods and has less to do; mostTaken is how many steps that may take.
const (
	leastWrites = 6
	leastApart  = 2
	mostTaken   = 2_500
)

// pin rewrites what is pinned: of the first worlds in which the controller does enough, and not
// too much.
func (s *subject) pin(t *testing.T) {
	told, _ := filepath.Glob(s.told("[0-9]*"))
	for _, old := range told {
		if err := os.Remove(old); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	least := leastWrites
	if s.apart {
		least = leastApart
	}
	for seed := uint64(0); len(lines) < s.seeds; seed++ {
		w := play(t, s, seed, false)
		if w.writes < least || w.World.Steps() > mostTaken {
			continue
		}
		lines = append(lines, w.line(seed))
		if len(lines) <= toldWorlds {
			write(t, s.told(strconv.FormatUint(seed, 10)), play(t, s, seed, true).text.String())
		}
	}
	write(t, s.file(), strings.Join(lines, "\n")+"\n")
}

// told is the file that has the story of a world.
func (s *subject) told(seed string) string { return fmt.Sprintf("testdata/%s-%s.txt", s.name, seed) }

// compare runs a world, and compares what comes of it with its line, and its story where
// that is kept.
func (s *subject) compare(t *testing.T, name, want string) {
	seed, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	kept, missing := os.ReadFile(s.told(name))
	w := play(t, s, seed, *tell || missing == nil)
	if *tell {
		t.Log(w.text.String())
	}
	if got := w.line(seed); got != want {
		t.Errorf("another history than pinned, from the place of the first number that differs:\n-%s\n+%s", want, got)
	}
	if missing == nil {
		if d := cmp.Diff(strings.Split(string(kept), "\n"), strings.Split(w.text.String(), "\n")); d != "" {
			t.Errorf("another story (-want +got):\n%s", d)
		}
	}
}

// line is a world in a few numbers.
func (s *story) line(seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %016x", seed, s.sum)
	for _, p := range s.parts {
		fmt.Fprintf(&b, " %04x", p)
	}
	return b.String()
}

var pins sync.Map // by the name of a subject: the lines of its file

// pinned are the lines of the worlds.
func (s *subject) pinned() []string {
	if lines, read := pins.Load(s.name); read && !*update {
		return lines.([]string)
	}
	raw, _ := os.ReadFile(s.file())
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	pins.Store(s.name, lines)
	return lines
}

func write(t *testing.T, name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
