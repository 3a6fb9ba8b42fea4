package render

import "github.com/threelaws/threelaws/sim"

var opNames = [...]string{
	sim.Commit: "commit", sim.Refusal: "refusal", sim.Read: "read", sim.Delivery: "delivery",
	sim.SyncStart: "syncStart", sim.SyncEnd: "syncEnd", sim.FaultHit: "fault", sim.Mutation: "mutation",
	sim.Stuck: "stuck", sim.Settled: "settled", sim.Fighting: "fighting", sim.Unsettled: "unsettled",
}

// OpName names the operation of a record in a word: "commit", "delivery".
func OpName(op sim.Op) string { return opNames[op] }
