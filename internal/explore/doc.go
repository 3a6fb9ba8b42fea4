// Package explore runs a program of package sim under many schedules: drawn at
// random, drawn with PCT's priorities, enumerated exhaustively, replayed from a
// list, or shrunk from a failing one.
//
// A [Program] makes a world from a cold start and runs it to its end under one
// source of choices. Nothing is ever restored from a snapshot: to come back to
// a state, the program runs again with the same choices in front. Programs,
// strategies, the enumerator and the shrinker start no goroutine and read no
// clock; only the driver [Config.Run] does.
//
// Every source here is a [sim.Chooser], and [Record] makes one of any other
// source. The choice of the next action is then not folded into the run's hash
// (the action is), so that a run drawn from a seed and its replay by keys have
// the same hash.
//
// # Exhaustive search
//
// [Exhaust] is a depth-first search over decisions that prunes in two ways.
// A state that was met before is not expanded again, and of two independent
// actions (by [sim.Footprint]) only one order is followed: the sleep sets of P.
// Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems"
// (1996), chapter 5. The two are combined as given there: the sleep set is
// stored with the state; when the state recurs, what was asleep then and is not
// now is explored, and the intersection is stored. Sleep sets alone save
// transitions, never states, so every reachable state is still visited.
//
// A state is [sim.World.StateHash], the digests of the observers, how many steps
// outside the offered actions the program had done, and, where they are bounded,
// how many timers have fired early. A program that remembers
// more than that between two steps adds it to [sim.World.Digests]. Where anything
// cannot be digested the search refuses: [Undigested].
//
// [Coverage] says that everything was covered only where some schedule came to its
// end, and names what no schedule varied. A run that comes back to a state of its
// own, although nobody was kept waiting, is a livelock.
//
// # PCT
//
// [PCT] is the scheduler of Burckhardt, Kothari, Musuvathi and Nagarakatte, "A
// Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (2010): a
// run of at most k steps of n threads finds a bug of depth d with a probability
// of at least 1/(n*k^(d-1)).
package explore
