// Package scenarios reads, runs and rewrites scenario files. A scenario file is a txtar archive. It begins with a
// script of kubectl-like verbs. The output of each step stands directly below the step. The archive's sections are
// ordinary Kubernetes manifests.
//
//	file     = script { "-- " name " --" NL body }
//	script   = { blank | "#" text | step }
//	step     = [ "!" ] verb { arg } NL [ "----" NL golden ]
//	arg      = word | key=value | --flag[=value], quoted with ' or " where it holds spaces
//	golden   = lines up to the next blank line; "(none)" where the step prints nothing
//	phase    = the steps after a block of "#" lines, up to the next such block
//
// A step with "!" in front is expected to violate a law, not to settle, or to be refused. Otherwise the run fails.
// [Verbs] lists the verbs.
//
// Golden text is the output in the default schedule. Laws must hold in all schedules: see the verb explore.
//
// # Running a file again
//
// The script up to a step can run many times under different schedules; see [Script]. The user's steps before the first
// settle create the initial world. "settle quiet" is part of the set-up, and always runs in the default schedule. In
// the default run, the user's steps between two settles happen at once. In every other run they keep their order, and
// race with the controllers.
//
// # Five names to know
//
//   - [Parse] and [Load] read a [File].
//   - [Registry] holds the controllers, laws and functions that files may name.
//   - [Interpret] runs a file and compares its output with the golden text: a [Result].
//   - [Explore] runs it under other schedules: an [Exploration], with each failure minimized to a [Counterexample].
//   - [Kill] does so with a mutant; [Killed] says how it failed.
//
// The example of [Interpret] shows a complete run.
//
// # Where things are
//
// file*.go parses, checks and writes a File. run*.go is one Run of a script. verb*.go has the type Verb, and each verb
// as one value with its help, its check and its effect. explore*.go runs a Script under other schedules, and minimizes
// a failure. interpret.go runs a whole file and compares its output. The table in load.go lists all verbs.
//
// # Where to go next
//
// docs/use/scenarios.md describes the format for users, and "threelaws help scenario" lists the verbs. Package
// scenarios/simtest runs worlds that are written in Go. Package cli provides the commands.
package scenarios
