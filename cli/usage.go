package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
)

// usage is a mistake on the command line. The program's name is put before it
// where it is printed.
func usage(format string, args ...any) error {
	return &scenarios.Error{Text: fmt.Sprintf(format, args...), Code: scenarios.ExitUsage}
}

// suggest names the valid word nearest to what was typed, or lists them.
func suggest(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	if len(valid) == 0 || len(valid) > 24 {
		return ""
	}
	return "; there are " + strings.Join(valid, ", ")
}

// oneOf checks a word against the words it may be.
func oneOf(flag, word string, valid ...string) error {
	if slices.Contains(valid, word) {
		return nil
	}
	return usage("--%s: %s is not one of its values%s", flag, word, suggest(word, valid))
}

// oneFile is the argument of commands that take exactly one file.
func oneFile(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return noFile(cmd)
	}
	return usage("%s takes one file, not %d", cmd.Name(), len(args))
}

// someFiles is the argument of commands that take one file at least.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return noFile(cmd)
	}
	return nil
}

func noFile(cmd *cobra.Command) error { return usage("%s: a scenario file must be given", cmd.Name()) }

// noArguments is for commands that take flags alone.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, only flags: %s", cmd.Name(), args[0])
	}
	return nil
}

// flagError words what is wrong with a flag, behind the command it was given to;
// the program's own name stands before all of it.
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
