// Package explore runs a program of package sim under many schedules. Schedules are drawn at random or with PCT's
// priorities, enumerated exhaustively, replayed from a list, or shrunk from a failing one.
//
// A [Runner] makes a world from a cold start and runs it to its end under one source of choices. No state is restored
// from a snapshot: to return to a state, the program runs again with the same prefix of choices. Only [Config.Run]
// starts goroutines and reads a clock.
//
// Every source of choices in this package is a [sim.Chooser], and [Record] makes a chooser of any other source. The
// run's hash then depends on the actions that were taken, but not on how they were chosen. Therefore a run drawn from a
// seed and its replay by keys have the same hash.
//
// # Exhaustive search
//
// [Exhaust] is a depth-first search over decisions. It prunes in two ways. First, it does not expand a state twice.
// Second, it explores only one order of two actions that are independent by their [sim.Footprint]. For this it uses the
// sleep sets of P. Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems" (1996). Chapter 5 also
// combines them with the first way. A sleep set is stored with each state. When the state recurs, the search explores
// the actions that were asleep and are awake now, and stores the actions that are in the old and in the new sleep set.
// Sleep sets save transitions, not states, so every reachable state is still visited.
//
// A state consists of:
//   - [sim.World.StateHash] and the digests of the observers,
//   - the number of steps that the run did not choose, and how often it took none of the enabled faults,
//   - the number of timers that have fired early, if it is bounded.
//
// A program that remembers more between two steps adds it to [sim.World.Digests]. A search fails with [Undigested] if a
// part of the world has no digest.
//
// A search without shards is complete only if a schedule ended or violated a law. [Coverage] lists what no schedule
// varied. A run that returns to one of its own states without starving an enabled action is a livelock.
//
// # PCT
//
// [PCT] is the scheduler of Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs" (2010). A run of at most k steps of n threads finds a bug of depth d with probability at
// least 1/(n*k^(d-1)).
package explore
