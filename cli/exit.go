package cli

import (
	"slices"

	"github.com/threelaws/threelaws/scenarios"
)

// The exit codes of the command line, beside those of the package scenarios.
const (
	// exitUncovered is for a search of every schedule that broke no law and did
	// not come to all of them.
	exitUncovered = 5
	// exitInterrupted is for a command that was interrupted before it found
	// anything.
	exitInterrupted = 130
)

// exitCodes is the table of them in the help.
const exitCodes = `exit codes
  0    pass
  1    a law is broken, or output differs
  2    bad file or usage
  3    did not settle
  4    two runs of one schedule differ
  5    no law is broken, but not all was covered (explore --strategy exhaustive, check, judge)
  130  interrupted before anything was found
Of several files the worst one counts: 2, then 4, 1, 3, 5.
`

// severity orders exit codes: of several files the worst one counts. A bad file
// comes first, as nothing was learnt from it; then runs that cannot be trusted.
var severity = []int{
	scenarios.ExitPass, exitInterrupted, exitUncovered, scenarios.ExitNotSettled, scenarios.ExitFail,
	scenarios.ExitNondetermine, scenarios.ExitUsage,
}

// worse returns the worse of two exit codes.
func worse(a, b int) int {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}
