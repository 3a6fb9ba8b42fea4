// Package sim is the kernel of the simulation: a [World] of actors in which
// one enabled action is taken at a time, every choice between enabled actions
// comes from one stream ([Choices]), time is virtual ([Clock]), and everything
// that happens is written to a [History] before anybody judges it.
//
// Five names are enough to read the rest:
//
//   - [World] holds the actors and takes the steps.
//   - [Actor] is whoever can do something: a process, the user, the faults.
//   - [Action] is what it can do next, under a key that is equal in every run
//     that reached the same point.
//   - [Choices] decides which of the enabled actions is taken: [Zero], [Seed],
//     [Bytes], or a [Chooser] that looks at the actions.
//   - [Record] is an entry of the history; an [Observer] is told of each.
//
// The kernel does not know how a subject runs. It imports only the standard
// library, starts no goroutine, reads no clock and draws no random number of its
// own, so a run is a function of its actors and its choices: a world is made by
// [New], its actors are added ([World.Add]), and it is stepped ([World.Step])
// until nothing is enabled. The package's example does so with two actors that
// count together, and finds the schedule in which they count wrong.
//
// # A step
//
// A step is one API request executed, one response delivered, one watch event
// delivered to one informer of one process, one worker taking a key from its
// queue, one timer, one fault, or one user action. Executing a request and
// delivering its response are two steps, so that a crash between them (the
// write committed, the response lost) is a schedule like any other.
//
// Time begins at [Epoch].
//
// # Where to go next
//
// Package host runs controllers as actors of a world, package law judges its
// history, and package trial joins them: one run of a world to its end.
package sim
