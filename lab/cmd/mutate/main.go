// Command mutate mutates the controllers of this module and lists the mutants that no scenario, recorded case or test
// finds.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/threelaws/threelaws/lab/mutate"
)

func main() {
	var o mutate.Options
	by := flag.String("by", "", "packages whose tests alone are tried, or \"scenarios\", with commas between")
	only := flag.String("only", "", "packages, by their path or its last words, with commas between")
	flag.StringVar(&o.Root, "root", "..", "the directory of the module")
	flag.StringVar(&o.Again, "again", "",
		"a file with the output of a run with -v: what that has killed is not tried again")
	flag.StringVar(&o.Checks, "checks", "",
		"with --by: of the tests those alone that match, as of go test -run")
	flag.BoolVar(&o.List, "list", false, "print the mutations and try none")
	flag.BoolVar(&o.Verbose, "v", false, "print what killed each")
	flag.BoolVar(&o.Quick, "quick", false, "leave out explored schedules and the mutants made by hand")
	flag.IntVar(&o.Every, "every", 1, "try one mutation in `n`, by number")
	flag.IntVar(&o.Processes, "j", runtime.NumCPU(), "how many processes")
	flag.Parse()
	if *only != "" {
		o.Only = strings.Split(*only, ",")
	}
	if *by != "" {
		o.By = strings.Split(*by, ",")
	}
	ok, err := mutate.Main(&o, os.Stdout, os.Stderr)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}
