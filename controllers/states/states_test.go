package states_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/threelaws/threelaws/fakeapi"
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

// TestFailuresAreGotOver has the first request of each sort that a controller makes fail: it has
// to be made again, and to come to the same states in the end.
func TestFailuresAreGotOver(t *testing.T) {
	each(t, func(t *testing.T, name string, file *txtar.Archive) {
		whole := play(t, file, nil)
		want := last(whole)
		for _, f := range requests(whole) {
			f.Nth, f.Code = 1, 500
			if d := cmp.Diff(want, last(play(t, file, &f))); d != "" {
				t.Errorf("%s %s of %s fails (-want +got):\n%s", f.Verb, f.Kind, f.Process, d)
			}
		}
	})
}

// last is what a world shows in the end.
func last(w *world) []string {
	var all []string
	for name, state := range w.shown {
		all = append(all, name+" "+state)
	}
	return alike(all)
}

// requests lists what sorts of writes the controllers make.
func requests(w *world) []host.FailedRequest {
	var list []host.FailedRequest
	h := &w.World.History
	for i := range h.Len() {
		r := h.At(i)
		if r.Op != sim.Commit || w.Cluster.Process(r.Process) == nil {
			continue
		}
		f := host.FailedRequest{Process: r.Process, Verb: fakeapi.Verb(r.Verb), Kind: r.Object.Kind}
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
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
