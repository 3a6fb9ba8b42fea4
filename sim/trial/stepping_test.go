package trial_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// steps matches a loop that steps a world.
var steps = regexp.MustCompile(`\b(?:[wW]orld(?:\(\))?|w)\.(?:Step|Take)\(`)

// judges matches the making of a judge.
var judges = regexp.MustCompile(`\blaw\.NewJudge\(`)

// Worlds under the laws run through a trial. Only the kernel, the runner by the wall clock and the searches step
// worlds besides. Only the judge of audit logs, which have no world, makes a judge besides.
func TestOnlyTrialsStepWorlds(t *testing.T) {
	may := []string{"sim/world.go", "sim/trial/", "internal/wallclock/", "sim/law/", "internal/explore/",
		"internal/audit/judge.go"}
	const root = "../.."
	looked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		looked++
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, m := range may {
			if strings.HasPrefix(filepath.ToSlash(inside), m) {
				return nil
			}
		}
		text, err := os.ReadFile(path)
		if at := steps.Find(text); at != nil {
			t.Errorf("%s has %s: run the world through a trial", path, at)
		}
		if at := judges.Find(text); at != nil {
			t.Errorf("%s has %s: run the world through a trial", path, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 100 {
		t.Errorf("looked at %d files: this is not the whole project", looked)
	}
}
