// Package sim is the kernel of the simulation. A [World] contains actors, and executes one enabled action of an actor
// at a time. [Choices] makes every choice between enabled actions, and time is virtual ([Clock]). Every event becomes a
// record of the [History].
//
// Five names are enough to read the rest:
//
//   - [World] holds the actors and takes the steps.
//   - [Actor] offers actions: a process, the user, the faults.
//   - [Action] is one possible step. It has the same key in every run that reaches the same point.
//   - [Choices] picks one of the enabled actions: [Zero], [Seed], or a [Chooser], which looks at the
//     actions.
//   - [Record] is an entry of the history. Each [Observer] sees every record.
//
// The kernel contains no code of Kubernetes. It imports only the standard library, starts no goroutine, reads no real
// clock and draws no random number. Therefore a run is a function of its actors and its choices. [New] makes a world,
// [World.Add] adds actors, and [World.Step] runs it until nothing is enabled. In the package's example, two actors
// increment one counter. A search finds the schedule that loses an increment.
//
// # A step
//
// In a step, one API request is executed, one response is delivered, one watch event reaches one informer of one
// process, or one worker takes a key from its queue. Other steps are a restart or exit of a process, a timer, a fault,
// and a user action. Executing a request and delivering its response are two steps. If the process crashes between
// them, the write is stored, but its response is lost.
//
// Time begins at [Epoch].
//
// # Where to go next
//
// Package host runs controllers as actors of a world. Package law judges the history of a world. Package trial uses
// both packages to run a world to its end.
package sim
