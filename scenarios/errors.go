package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/internal/render"
)

// The exit codes of a run and of the commands.
const (
	ExitPass         = 0 // everything was as expected
	ExitFail         = 1 // a law was violated, a condition does not hold, or the output differs
	ExitUsage        = 2 // the file or the command line is wrong
	ExitNotSettled   = 3 // the world did not settle
	ExitNondetermine = 4 // two runs of one schedule differed
)

// Error is a mistake in a scenario file, or a step with an unexpected result. Its text is "file:line: verb: what: why".
type Error struct {
	File string `json:"file"`
	Line int    `json:"line"`           // counted from 1; 0 for the whole file
	Verb string `json:"verb,omitempty"` // the verb of the step; "" outside of steps
	Text string `json:"text"`           // the mistake and its cause
	Code int    `json:"code"`           // the exit code of the run, such as ExitFail
	Diff string `json:"diff,omitempty"` // the lines of a diff, which are printed below Text

	bang bool // the error is that a step with "!" did not fail
}

// Error returns the mistake in one line. The lines of the diff follow.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.File != "" {
		b.WriteString(": ")
	}
	if e.Verb != "" {
		b.WriteString(e.Verb + ": ")
	}
	b.WriteString(e.Text)
	if e.Diff != "" {
		b.WriteString("\n" + strings.TrimSuffix(e.Diff, "\n"))
	}
	return b.String()
}

func wrong(file string, line int, verb, format string, args ...any) *Error {
	return &Error{File: file, Line: line, Verb: verb, Text: fmt.Sprintf(format, args...), Code: ExitUsage}
}

// suggest returns the end of an error message: the valid word that is nearest to word. If no valid word is near,
// suggest returns the list of all valid words, or "" if there are more than 24.
func suggest(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	if len(valid) == 0 || len(valid) > 24 {
		return ""
	}
	sorted := slices.Clone(valid)
	slices.Sort(sorted)
	return "; there are " + strings.Join(sorted, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Counterexample is a schedule that violates a law. It is minimized unless the failure is accepted.
type Counterexample struct {
	Law      string          `json:"law"`
	Text     string          `json:"text"`
	Index    int             `json:"index"` // index of the first schedule that violated the law
	Strategy string          `json:"strategy"`
	Small    string          `json:"small"` // describes the size of the failure before and after minimizing
	Page     *render.Page    `json:"page"`
	File     []byte          `json:"-"`                  // a scenario file that replays the failure
	Often    *campaign.Often `json:"often,omitempty"`    // for random schedules: how many of them violated the law
	Likely   []Likely        `json:"likely,omitempty"`   // how often random continuations fail, for each page line
	Accepted string          `json:"accepted,omitempty"` // why the failure is accepted; "" if it is not

	// Found, if not nil, repeats the failing run as it was before minimizing. It returns the page of the failure, or
	// nil if the run does not fail again.
	Found func() *render.Page `json:"-"`
}

// Said returns the violation's text. If the text does not name the written object, Said puts the object in front:
// "deploy/web: owned by none". Expectations are about the settled world, not about the object that was written last.
func (c *Counterexample) Said() string {
	if c.Page == nil || c.Law == expectation || c.Law == sameEnd {
		return c.Text
	}
	object := c.Page.Object()
	if object == "" || strings.Contains(c.Text, object) {
		return c.Text
	}
	return object + ": " + c.Text
}

// continuations is the maximal number of random continuations after each line of a failure's page.
const continuations = 200

// Likely is the frequency with which a failure still happens if the run continues at random after a line of its page.
type Likely struct {
	Line int            `json:"line"` // the line's number on the page; 0 for the start of the run
	How  campaign.Often `json:"how"`
}
