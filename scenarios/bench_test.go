package scenarios_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

// files lists the scenarios of the project.
func files(t testing.TB) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".txtar" {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// BenchmarkFiles runs all scenarios of the project, one after the other.
func BenchmarkFiles(b *testing.B) {
	g, all := registry(), files(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range all {
			if res := scenarios.RunFile(path, scenarios.Options{Registry: g}); res.ExitCode != 0 {
				b.Fatal(res.Errors)
			}
		}
	}
}
