package detcheck_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/threelaws/threelaws/lab/detcheck"
)

// Each package of testdata has code that a rule flags, marked with the message, and similar code that is allowed.
func TestAnalyzer(t *testing.T) {
	for _, pkg := range []string{"names", "imports", "flow", "mapok", "mapbad", "directive"} {
		t.Run(pkg, func(t *testing.T) {
			analysistest.Run(t, analysistest.TestData(), detcheck.Analyzer, pkg)
		})
	}
}
