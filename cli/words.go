package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
)

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func round(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// plainWord matches a word that needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\pL\pN_./:@%+=,][-\pL\pN_./:@%+=,]*$`)

// argument returns a name or path as a shell word, quoted if necessary. For the title of standard input it returns "-".
func argument(title string) string {
	switch {
	case title == titleOf(stdin) && !onDisk(title):
		return stdin
	case plainWord.MatchString(title):
		return title
	case strings.HasPrefix(title, "-"):
		title = "./" + title
	}
	return quoted(title)
}

// quoted returns a text as one shell word, quoted if necessary. A text that begins with "-" is quoted too.
func quoted(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

func usage(format string, args ...any) error {
	return &scenarios.Error{Text: fmt.Sprintf(format, args...), Code: scenarios.ExitUsage}
}

func suggest(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	if len(valid) == 0 || len(valid) > 24 {
		return ""
	}
	return "; there are " + strings.Join(valid, ", ")
}

func oneOf(flag, word string, valid ...string) error {
	if slices.Contains(valid, word) {
		return nil
	}
	return usage("--%s: %s is not one of its values%s", flag, word, suggest(word, valid))
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one file, not %d", cmd.Name(), len(args))
	}
	return someFiles(cmd, args)
}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s: a scenario file must be given", cmd.Name())
	}
	return nil
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, only flags: %s", cmd.Name(), args[0])
	}
	return nil
}

// flagError returns an error about a flag, with the command's name in front.
func flagError(cmd *cobra.Command, err error) error {
	whose := ""
	if cmd.HasParent() {
		whose = cmd.Name() + ": "
	}
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = "-" + short
		}
		return usage("%sunknown flag %s%s", whose, name, suggest(name, flagNames(cmd)))
	case errors.As(err, &bad):
		what := map[string]string{
			"bool": "true or false", "int": "a whole number", "uint64": "a whole number from 0",
		}[bad.GetFlag().Value.Type()]
		return usage("%s--%s=%s is not %s", whose, bad.GetFlag().Name, bad.GetValue(), what)
	case errors.As(err, &missing):
		return usage("%s--%s needs a value", whose, missing.GetFlag().Name)
	}
	return usage("%s%v", whose, err)
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

const (
	// exitUncovered means that no law is violated, but that the search or the check is not complete.
	exitUncovered = 5
	// exitInterrupted means that the command was interrupted before it found a violation.
	exitInterrupted = 130
)

const exitCodes = `exit codes
  0    pass
  1    a law is violated, or output differs
  2    bad file or usage
  3    did not settle
  4    two runs of one schedule differ
  5    no law is violated, but not all was covered (explore --strategy exhaustive, check, judge)
  130  interrupted before anything was found
For several files, the worst code counts: 2, then 4, 1, 3, 5.
`

// severity contains the exit codes from best to worst. An invalid file is worst, because it proves nothing. Next is a
// run that differs from its repetition, because the results cannot be trusted.
var severity = []int{
	scenarios.ExitPass, exitInterrupted, exitUncovered, scenarios.ExitNotSettled, scenarios.ExitFail,
	scenarios.ExitNondetermine, scenarios.ExitUsage,
}

func worse(a, b int) int {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}
