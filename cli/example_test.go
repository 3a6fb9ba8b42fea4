package cli_test

import (
	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

var widget = host.Controller{Name: "widget"}

// A main of three lines has every command with a controller of its own.
func ExampleMain() {
	cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget}})
}
