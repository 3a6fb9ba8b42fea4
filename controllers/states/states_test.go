package states_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var update = flag.Bool("update", false, "rewrite the states of the worlds")

// section is what the states of a file are called.
const section = "states"

// TestStates runs each world, and compares every object of it at every rest.
func TestStates(t *testing.T) {
	each(t, func(t *testing.T, name string, file *txtar.Archive) {
		got := strings.Join(play(t, file, nil).states, "")
		want := &txtar.File{Name: section}
		for i := range file.Files {
			if file.Files[i].Name == section {
				want = &file.Files[i]
			}
		}
		if !*update {
			if d := cmp.Diff(strings.Split(string(want.Data), "\n"), strings.Split(got, "\n")); d != "" {
				t.Errorf("states differ (-want +got):\n%s", d)
			}
			return
		}
		if want.Data == nil {
			file.Files = append(file.Files, *want)
			want = &file.Files[len(file.Files)-1]
		}
		want.Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(file), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// failures are the ways in which a request fails: refused; not executed; executed, and the
// answer lost.
var failures = []host.FailedRequest{{Code: 409}, {Code: 500}, {Code: 504, Commits: true}}

// TestFailuresAreGotOver has each request of the controllers fail once, in each way.
func TestFailuresAreGotOver(t *testing.T) {
	each(t, func(t *testing.T, _ string, file *txtar.Archive) {
		whole := play(t, file, nil)
		want := alike(whole.states)
		for process, n := range requests(whole) {
			for nth := 1; nth <= n; nth++ {
				for _, f := range failures {
					f.Process, f.Nth = process, nth
					got := alike(play(t, file, &f).states)
					if d := cmp.Diff(want, got); d != "" {
						t.Fatalf("request %d of %s fails with %d (-want +got):\n%s", nth, process, f.Code, d)
					}
				}
			}
		}
	})
}

// requests counts those of each process: what it wrote, what it was refused, and what it read.
func requests(w *world) map[string]int {
	n := map[string]int{}
	h := &w.World.History
	for i := range h.Len() {
		switch r := h.At(i); r.Op {
		case sim.Commit, sim.Refusal, sim.Read:
			if r.Process != "" && w.Cluster.Process(r.Process) != nil {
				n[r.Process]++
			}
		}
	}
	return n
}

// each does something with every world.
func each(t *testing.T, do func(t *testing.T, name string, file *txtar.Archive)) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(fmt.Sprint("no worlds: ", err))
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			file, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			do(t, name, file)
		})
	}
}
