package cli_test

import (
	"embed"
	"io/fs"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

var widget = host.Controller{Name: "widget"}

//go:embed testdata
var mine embed.FS

// A command may have scenarios in it, which are found by name wherever it runs.
func ExampleCommand() {
	library, _ := fs.Sub(mine, "testdata")
	cli.Command{
		Registry: &scenarios.Registry{Controllers: []host.Controller{widget}},
		Library:  library,
	}.Main()
}

// A main of three lines has every command with a controller of its own.
func ExampleMain() {
	cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget}})
}
