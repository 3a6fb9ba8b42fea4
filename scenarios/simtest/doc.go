// Package simtest tests controllers in go test. Begin with [Check] and [Case]. A world given in Go runs under many
// schedules, each checked against the laws. A failure is minimized, printed, and written as a scenario file that the
// next run replays first.
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
// [Case.Property] and [Case.Fuzz] draw the same case with rapid and with Go's fuzzer; [Case.Explore] returns the
// result. A [Generator] draws whole worlds: the objects, the user's actions and the next action all come from one
// [sim.Choices]. A [Drawn] is the result of one of them.
//
// Import it in tests only: it links rapid, which registers flags.
//
// # Where to go next
//
// Package sim/host defines what a controller is. docs/use/go-test.md shows a whole test and its failure.
// docs/use/scenarios.md describes the files of failures, and package cli replays them in a command of your own.
package simtest
