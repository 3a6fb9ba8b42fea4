// Command conformance reports which clauses the controllers of this module hold:
//
//	go run -C lab ./cmd/conformance [-controller replicaset] [-era current]
//
// It explores the scenarios of each controller and the worlds of package evidence, with and without faults. It exits
// with 1 if a clause is violated or not exercised and package evidence records no reason for this.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/threelaws/threelaws/lab/evidence"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

func main() {
	var o evidence.Options
	flag.StringVar(&o.Controller, "controller", "", "this controller alone, clause by clause")
	flag.StringVar(&o.Era, "era", "", "this era alone")
	flag.IntVar(&o.Schedules, "schedules", 10, "the schedules of each world")
	flag.Parse()
	g := builtin.Registry()
	files, err := evidence.Files()
	if err == nil && o.Controller != "" {
		c, what := g.Controller(o.Controller)
		if what != "" {
			err = fmt.Errorf("-controller: %s", what)
		}
		o.Controller = c.Name
	}
	var r *evidence.Examination
	if err == nil {
		r, err = evidence.Examine(context.Background(), files, g, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	fmt.Print(evidence.Text(r, 100, o.Controller != ""))
	if len(r.Wrong()) > 0 {
		os.Exit(1)
	}
}
