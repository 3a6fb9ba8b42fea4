// Command threelaws is the command line of package cli with the controllers and scenarios of this module; see
// "threelaws help".
package main

import (
	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

func main() {
	cli.Command{Registry: builtin.Registry(), Library: scenarios.Library()}.Main()
}
