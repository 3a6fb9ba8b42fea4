// Command threelaws runs, explores, replays and shows scenarios with the controllers of this module; see "threelaws
// help".
package main

import (
	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

func main() {
	cli.Command{Registry: builtin.Registry(), Library: scenarios.Library()}.Main()
}
