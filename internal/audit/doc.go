// Package audit reads the audit log of a real cluster (audit.k8s.io/v1) and holds what
// it tells against the laws of package sim/law.
//
// A [Source] hands over the lines of files in the order of time, an [Auditor] takes
// them. It brings the writes into the order of their resource versions, works out what
// each object was before and after, decides who acted (actor.go) and by which right
// (owed.go), and shows the writes to a [law.Judge]. Fights are found apart from it
// (fight.go), as a log has no state of a whole world that could recur. A [Report] says
// what was found, by whom, and what could not be judged.
//
// # Never an innocent
//
// A log knows less than a simulated world: it may begin in the middle, writes may be
// missing from it or stand in it without their bodies, and nobody says what a writer
// had read. So whatever cannot be known for certain is not judged:
//
//   - What an object was before a write is taken from the log only where nothing can
//     have come in between: the version that the request names, or a patch that leaves
//     the owners alone.
//   - An actor that is not known is held to nothing but this: it does not take, edit
//     or delete what another's controller controls, and says so with a ControllerRef
//     where others could claim what it makes. Whose controller that is must be known.
//   - People may do anything, and so may who acts by office: nodes, the scheduler, the
//     garbage collector and their like.
package audit
