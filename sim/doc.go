// Package sim is the kernel of the simulation. A [World] of actors takes one enabled action at a time. One stream
// ([Choices]) makes every choice between enabled actions, and time is virtual ([Clock]). Every event is written to a
// [History] before it is judged.
//
// Five names are enough to read the rest:
//
//   - [World] holds the actors and takes the steps.
//   - [Actor] offers actions: a process, the user, the faults.
//   - [Action] is one possible step. Its key is equal in every run that reached the same point.
//   - [Choices] picks one of the enabled actions: [Zero], [Seed], or a [Chooser], which looks at the
//     actions.
//   - [Record] is an entry of the history. Each [Observer] sees every record.
//
// The kernel does not know how a subject runs. It imports only the standard library, starts no goroutine, reads no
// clock and draws no random number. Therefore a run is a function of its actors and its choices. [New] makes a world,
// [World.Add] adds actors, and [World.Step] runs it until nothing is enabled. The package's example has two actors
// that increment one counter, and finds the schedule in which an increment is lost.
//
// # A step
//
// A step is one API request executed, one response delivered, one watch event delivered to one informer of one
// process, one worker taking a key from its queue, one timer, one fault, or one user action. A crash can happen
// between the execution of a write and its response; the response is then lost.
//
// Time begins at [Epoch].
//
// # Where to go next
//
// Package host runs controllers as actors of a world. Package law judges its history. Package trial joins them: one run
// of a world to its end.
package sim
