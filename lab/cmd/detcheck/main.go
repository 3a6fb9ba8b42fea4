// Command detcheck checks packages for code that could make two runs of one schedule differ.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/threelaws/threelaws/lab/detcheck"
)

func main() { singlechecker.Main(detcheck.Analyzer) }
