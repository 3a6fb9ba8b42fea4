// Package simtest tries controllers in go test. Begin with [Check] and [Case]: a
// world given in Go is run under many schedules, each held to the laws; what
// breaks one is made small, printed, and left as a scenario file that is replayed
// first next time.
//
//	func TestKeeper(t *testing.T) {
//		simtest.Check(t, simtest.Case{
//			Controllers: []host.Controller{keeper},
//			With:        []string{"gc"},
//			World:       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
//			User:        []simtest.Action{simtest.Verb("label cm/a tier=front")},
//		})
//	}
//
// [Case.Property] and [Case.Fuzz] draw the same case with rapid and with Go's
// fuzzer; [Case.Explore] hands the outcome over. A [Generator] draws whole worlds:
// what they hold, what the user does and which action comes next all come from one
// [sim.Choices]; what one of them came to is a [Drawn].
//
// It is imported by tests only: importing it links rapid, which registers
// flags.
//
// # Where to go next
//
// Package sim/host says what a controller is. docs/use/go-test.md shows a whole test and what
// its failure looks like; docs/use/scenarios.md describes the files that failures are
// written as, and package cli replays them in a command of your own.
package simtest
