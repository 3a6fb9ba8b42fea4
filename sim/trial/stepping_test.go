package trial_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// steps matches a call that takes a step of a world.
var steps = regexp.MustCompile(`\b(?:[wW]orld(?:\(\))?|w)\.(?:Step|Take)\(`)

// judges matches the creation of a judge.
var judges = regexp.MustCompile(`\blaw\.NewJudge\(`)

// Only a trial runs worlds under the laws. Apart from trials, only the kernel, the runner in real time and the
// searches take steps, and only the judge of audit logs creates a judge.
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
		t.Errorf("found only %d files of the project", looked)
	}
}
