package switches

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
)

// ChecksEnv is the variable that has the tests of a package serve. It names a file with the names of those that are
// checks, a line each, those of subtests with slashes: a variable of its own cannot be longer than 128 KiB.
const ChecksEnv = "THREELAWS_MUTATION_CHECKS"

// Tests is what TestMain of a mutated build does: it runs the tests once, or serves them
// as checks, and returns the code to exit with.
func Tests(m interface{ Run() int }) int {
	file := os.Getenv(ChecksEnv)
	if file == "" {
		return m.Run()
	}
	names, err := os.ReadFile(file)
	if err != nil {
		panic("switches: " + err.Error())
	}
	var checks []Check
	for name := range strings.SplitSeq(string(names), "\n") {
		checks = append(checks, Check{Name: name, Run: func() error { return one(m, name) }})
	}
	flag.Parse()
	if f := flag.Lookup("rapid.nofailfile"); f != nil { // mutants fail by the hundred
		if err := f.Value.Set("true"); err != nil {
			panic("switches: " + err.Error())
		}
	}
	Serve(checks)
	return 0
}

func one(m interface{ Run() int }, name string) error {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	if err := flag.Set("test.run", strings.Join(parts, "/")); err != nil {
		return err
	}
	if m.Run() != 0 {
		return errors.New("fails")
	}
	return nil
}
