// Package mutate changes the controllers mechanically, one place at a time, and says
// which changes nobody notices: a condition is negated, an operand or a statement
// left out, an error swallowed, an element of a composite forgotten. The mutants that
// are made by hand show that each guard is needed and each law sees; these show what
// is not held by anything.
//
// All mutations are compiled into one program ([Program.Overlay]): each asks package
// switches whether it is on. Each check runs once without a mutation, to learn which
// mutations it reaches. Then each mutant meets the checks that reach it, until one of them
// fails: scenario files, tests, the laws in generated worlds, recorded cases, and the
// comparison with upstream's controllers, whose tests are built in their own module. The
// overlay adds a TestMain that serves tests from one process.
//
// A survivor is a hole, or has a row in [Excuses].
package mutate
