package generated_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
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
			lines := make([]string, s.seeds)
			for seed := range s.seeds {
				t.Run(strconv.Itoa(seed), func(t *testing.T) {
					lines[seed] = s.compare(t, seed)
				})
			}
			if *update && !t.Failed() {
				write(t, s.file(), strings.Join(lines, "\n")+"\n")
			}
		})
	}
}

func (s *subject) file() string { return "testdata/" + s.name + ".txt" }

// compare runs a world and returns its line.
func (s *subject) compare(t *testing.T, seed int) string {
	w := play(t, s, uint64(seed), *tell || seed < toldWorlds)
	line := w.line(seed)
	if *tell {
		t.Log(w.text.String())
	}
	name := fmt.Sprintf("testdata/%s-%d.txt", s.name, seed)
	switch {
	case *update:
		if seed < toldWorlds {
			write(t, name, w.text.String())
		}
	case s.pinned(seed) != line:
		t.Errorf("another history than pinned, from the place of the first number on that differs:\n-%s\n+%s",
			s.pinned(seed), line)
	case seed < toldWorlds:
		if raw, err := os.ReadFile(name); err != nil || string(raw) != w.text.String() {
			t.Errorf("%s tells another story (%v)", name, err)
		}
	}
	return line
}

// line is a world in a few numbers.
func (s *story) line(seed int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %016x", seed, s.sum)
	for _, p := range s.parts {
		fmt.Fprintf(&b, " %04x", p)
	}
	return b.String()
}

var pins = struct {
	sync.Mutex
	of map[string][]string
}{of: map[string][]string{}}

// pinned is the line of a world in the testdata; "" for one that is not there.
func (s *subject) pinned(seed int) string {
	pins.Lock()
	defer pins.Unlock()
	lines, read := pins.of[s.name]
	if !read {
		raw, _ := os.ReadFile(s.file())
		lines = strings.Split(string(raw), "\n")
		pins.of[s.name] = lines
	}
	if seed >= len(lines) {
		return ""
	}
	return lines[seed]
}

func write(t *testing.T, name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
