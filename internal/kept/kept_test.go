package kept_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// If a kept file violates another law than the one in its name, Replay says so.
func TestReplayViolatesAnotherLaw(t *testing.T) {
	const text = "apply w\ncontrollers replicaset\nsettle\nexpect rs/b\n\n-- w --\n{apiVersion: apps/v1, kind: ReplicaSet, " +
		"metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}"
	for name, other := range map[string]string{"expect-1234.txtar": "", "never-fight-1234.txtar": "expect"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := kept.Replay(builtin.Registry(), path); r.Page == nil || r.Other != other {
			t.Errorf("%s: page %v, other law %q, errors %v", name, r.Page, r.Other, r.Errors)
		}
	}
}

// A kept file does not fit if its schedule does not fit, or if it needs an expectation that the case no longer has. It
// does not matter whether the output differs too. Other mistakes in the file are errors.
func TestReplayOfAFileThatDoesNotFit(t *testing.T) {
	const (
		settled  = "settled at 0s after 0 writes\n\n"
		schedule = "\n-- s --\nthreelaws schedule 1\ndeliver replicaset Pod\n"
		world    = "apply w\nsettle\n\n-- w --\n{apiVersion: v1, kind: Pod, metadata: {name: a}, " +
			"spec: {containers: [{name: c, image: i}]}}" + schedule
		first = "schedule s\ncontrollers replicaset\nsettle\n----\n"
	)
	for _, c := range []struct {
		name, text string
		unfit      bool
	}{
		{"schedule", first + settled + world, true},
		{"schedule and output", first + "settled at 1h after 9 writes\n\n" + world, true},
		{"expectation", "settle\nensure settled\n", true},
		{"verb", "setle\n", false},
		{"verb and schedule", "schedule s\nsetle\n" + schedule, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.txtar")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			r := kept.Replay(builtin.Registry(), path)
			if r.Page != nil || r.Unfit != c.unfit || (len(r.Errors) > 0) == c.unfit {
				t.Errorf("unfit: %t, errors: %v", r.Unfit, r.Errors)
			}
		})
	}
}
