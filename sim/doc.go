// Package sim is the kernel of the simulation: a [World] of actors in which
// one enabled action is taken at a time, every choice between enabled actions
// comes from one stream ([Choices]), time is virtual ([Clock]), and everything
// that happens is written to a [History] before anybody judges it.
//
// The kernel does not know Kubernetes. It imports only the standard library,
// starts no goroutine, reads no clock and draws no random number of its own,
// so a run is a function of its actors and its choices. A package that hosts
// subjects (package host for reconcile functions, package bubble for
// unmodified programs) turns what its subjects can do next into actions with
// canonical keys; the kernel never learns how a subject runs.
//
// # A step
//
// A step is one API request executed, one response delivered, one watch event
// delivered to one informer of one process, one worker taking a key from its
// queue, one timer, one fault, or one user action. Executing a request and
// delivering its response are two steps, so that a crash between them (the
// write committed, the response lost) is a schedule like any other.
package sim
