// Package mutate changes the controllers mechanically, one place at a time, and says
// which changes nobody notices: a condition is negated, an operand or a statement
// left out, an error swallowed, an element of a composite forgotten. The mutants that
// are made by hand show that each guard is needed and each law sees; these show what
// is not held by anything.
//
// All mutations are compiled into one program ([Program.Overlay]): each asks package
// switches whether it is on. The program is run over every scenario file once, to learn
// which mutations each file reaches, and then over the files that reach a mutation
// with that one on, until one of them fails. What fails is the file as it stands:
// golden text, what it expects, the laws. Those that survive the default schedules
// meet the tests of their package, those of package controllers, the recorded cases,
// a few explored schedules of each file, and the mutants by hand, which have to die as
// before. Tests are served by one process too, by a TestMain that the overlay adds.
//
// A survivor is a hole, or has a row in [Excuses].
package mutate
