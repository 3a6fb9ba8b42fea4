// Package scenarios reads, runs and rewrites scenario files: a txtar archive
// whose top is a script of kubectl-like verbs, each with the text it prints
// directly beneath, and whose sections are ordinary Kubernetes manifests.
//
//	file     = script { "-- " name " --" NL body }
//	script   = { blank | "#" text | step }
//	step     = [ "!" ] verb { arg } NL [ "----" NL golden ]
//	arg      = word | key=value | --flag[=value], quoted with ' or " where it holds spaces
//	golden   = lines up to the next blank line; "(none)" where the step prints nothing
//	phase    = the steps after a block of "#" lines, up to the next such block
//
// A step with "!" in front is expected to break a law, not to settle, or to be
// refused; it is a mistake when it does not. The verbs are listed by [Verbs].
//
// Golden text is what happens in the default schedule. Laws hold in all of
// them: see the verb explore.
//
// # Running a file again
//
// The script up to a step is a program that can be run many times under
// different choices; see [Script]. What the user does before the first settle is
// the initial world. "settle quiet" is set-up and always runs in the default
// schedule. What the user does after one settle and before the next happens at
// once in the default run; in every other run it is offered as actions of class
// user, in the order of the script, and races with the controllers.
//
// # Five names to know
//
//   - [Parse] and [Load] read a [File].
//   - [Registry] holds the controllers, laws and functions that files may name.
//   - [Interpret] runs a file and holds it to its golden text: a [Result].
//   - [Explore] runs it under other schedules: an [Exploration], its failures made
//     small, each a [Counterexample].
//   - [Kill] does so with a mutant: how it was [Killed].
//
// The example of [Interpret] is one that runs.
//
// # Where things are
//
// The files are named by what they are of.
//
//	file*.go     the format: a File is parsed, checked and written, with every
//	             mistake at its line. Words, manifests and golden text are packages
//	             of their own in internal.
//	run*.go      one Run of a script: what the user does, how it settles, what
//	             its timelines tell, which breaches count against it.
//	verb*.go     what a Verb is, and each verb as one value: its help, its check
//	             and what it does to a run. Only the table in verb_table.go, which
//	             Parse hands to the parser, names them all.
//	explore*.go  a Script under other schedules: drawing and enumerating them,
//	             making a failure small, writing it as a scenario file.
//	interpret.go a whole file, run and held to its golden text.
//
// # Where to go next
//
// docs/use/scenarios.md is the format as one reads it, "threelaws help scenario" the
// verbs. Package scenarios/simtest makes a file of a world given in Go; package cli
// has all this as a command.
package scenarios
