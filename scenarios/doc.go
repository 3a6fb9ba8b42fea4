// Package scenarios reads, runs and rewrites scenario files. A scenario file is a txtar archive. It begins with a
// script of kubectl-like verbs. The expected output of each step, called golden text, follows directly below the step.
// The sections of the archive are ordinary Kubernetes manifests.
//
//	file     = script { "-- " name " --" NL body }
//	script   = { blank | "#" text | step }
//	step     = [ "!" ] verb { arg } NL [ "----" NL golden ]
//	arg      = word | key=value | --flag[=value], quoted with ' or " where it holds spaces
//	golden   = lines up to the next blank line; "(none)" where the step prints nothing
//	phase    = the steps after a block of "#" lines, up to the next such block
//
// If a step has "!" in front, the step must fail. Otherwise the run fails. A step fails if a law is violated, the world
// does not settle, the server refuses a request, or an expected condition does not hold. [Verbs] lists the verbs.
//
// Golden text is the output in the default schedule. Laws must hold in all schedules. The verb explore tries many of
// them.
//
// # Running a file again
//
// The steps before an explore can run many times under different schedules; see [Script]. The user's steps before the
// first settle create the initial world. "settle quiet" is part of the set-up, and always runs in the default
// schedule. In the default schedule, the user's steps between two settles run one directly after the other. In every
// other schedule they keep their order, but race with the controllers.
//
// # Five names to know
//
//   - [Parse] and [Load] read a [File].
//   - [Registry] holds the controllers, laws and functions that files may name.
//   - [Interpret] runs a file and compares its output with the golden text: a [Result].
//   - [Explore] runs a file under other schedules. It returns an [Exploration], in which each failure is minimized to a
//     [Counterexample].
//   - [Kill] runs a file with a mutant. [Killed] describes how the mutant failed.
//
// The example of [Interpret] shows a complete run.
//
// # Where things are
//
// file*.go parses, checks and writes a File. run*.go runs a script once. verb*.go has the type Verb, and one value for
// each verb, with its help, its check and its function. explore*.go runs a Script under other schedules, and minimizes
// a failure. interpret.go runs a whole file and compares its output. The table in load.go lists all verbs.
//
// # Where to go next
//
// docs/use/scenarios.md describes the format for users, and "threelaws help scenario" lists the verbs. Package
// scenarios/simtest runs worlds that are written in Go. Package cli provides the commands.
package scenarios
