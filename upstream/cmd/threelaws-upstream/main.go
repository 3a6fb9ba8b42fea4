// The command threelaws-upstream is threelaws with kube-apiserver's own defaults and
// validation where it serves. See "threelaws-upstream help serve".
package main

import (
	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/upstream"
)

func main() {
	cli.Command{Registry: cli.Builtin(), Library: scenarios.Library(), Strategies: upstream.Strategies}.Main()
}
