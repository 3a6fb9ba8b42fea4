package scenarios

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of a run; the command line returns them.
const (
	ExitPass         = 0 // everything as expected
	ExitFail         = 1 // a law was violated, or the output differs
	ExitUsage        = 2 // the file or the command line is wrong
	ExitNotSettled   = 3 // the world did not settle
	ExitNondetermine = 4 // two runs of one schedule differed
)

// Error is a mistake in a scenario file, or a step with an unexpected result. It formats as "file:line: verb: what:
// why".
type Error struct {
	File string `json:"file"`
	Line int    `json:"line"`           // from 1; 0 for the file as a whole
	Verb string `json:"verb,omitempty"` // the step's verb, "" outside of steps
	Text string `json:"text"`           // what is wrong, and why
	Code int    `json:"code"`           // the exit code it stands for
	Diff string `json:"diff,omitempty"` // lines to print beneath

	bang bool // what "!" expected did not happen
}

// Error formats the mistake in one line, with its diff beneath.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Verb != "" {
		b.WriteString(e.Verb + ": ")
	}
	b.WriteString(e.Text)
	if e.Diff != "" {
		b.WriteString("\n" + strings.TrimSuffix(e.Diff, "\n"))
	}
	return b.String()
}

// ExitCode returns the exit code for an error: that of the first [*Error] in it, [ExitUsage] for any other error,
// [ExitPass] for nil.
func ExitCode(err error) int {
	if err == nil {
		return ExitPass
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ExitUsage
}

// wrong returns a mistake in the file itself.
func wrong(file string, line int, verb, format string, args ...any) *Error {
	return &Error{File: file, Line: line, Verb: verb, Text: fmt.Sprintf(format, args...), Code: ExitUsage}
}
