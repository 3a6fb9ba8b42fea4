// The command threelaws runs, explores, replays and shows scenario files with
// the controllers of this module. See "threelaws help".
package main

import "github.com/threelaws/threelaws/cli"

func main() { cli.Main(cli.Builtin()) }
