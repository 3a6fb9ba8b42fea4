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
// refused; it is a mistake when it does not. The verbs are listed by [Verbs];
// each lives in a file of its own and has a method of [Run] as its twin in Go.
//
// Golden text is what happens in the default schedule. Laws hold in all of
// them: see the verb explore.
//
// # Running a file again
//
// The script up to a step is a program that can be run many times under
// different choices. What the user does before the first settle is the initial
// world. "settle quiet" is set-up and always runs in the default schedule.
// What the user does after one settle and before the next happens at once in
// the default run; in every other run it is offered as actions of class user,
// in the order of the script, and races with the controllers.
package scenarios
