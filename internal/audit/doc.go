// Package audit reads the audit log of a real cluster (audit.k8s.io/v1) and checks it against the laws of package
// sim/law.
//
// A [Source] delivers the lines of files in order of time; an [Auditor] reads them. It orders the writes by resource
// version, and derives each object before and after a write. It decides who acted (actor.go) and with which right
// (owed.go), and passes the writes to a [law.Judge]. Fights are found separately (fight.go), because a log has no state
// of a whole world that could recur. A [Report] lists the findings, the actors, and what could not be judged.
//
// # No false positives
//
// A log knows less than a simulated world. It may begin in the middle, writes or their bodies may be missing, and it
// does not say what a writer had read. Anything uncertain is therefore not judged:
//
//   - The object before a write comes from the log only if nothing can have happened in between: the request names the
//     version, or is a patch that leaves the owners alone.
//   - An unknown actor must only follow two rules. It does not take, edit or delete what another's controller
//     controls, if that controller is known. It sets a ControllerRef if others could adopt what it creates.
//   - Writes by people and by system components (nodes, the scheduler, the garbage collector) are never violations.
package audit
