// Package host is the stepped host: it runs reconcile functions as coroutines
// against a [fakeapi.Server] inside a [sim.World]. A worker gives up the
// processor at every API call; executing the request and delivering the response
// are two steps, and a crash is possible at each.
//
// Begin with [Controller]: a value that names the kind it syncs (For) and those
// it makes (Owns), says by [Route] which keys an event on a kind enqueues, and
// has a factory (New) that is called at every start and after each crash. The
// factory is given an [Env]: a [Client] whose every call is a step of its own,
// client-go's informers and a client-go queue, and the world's clock. It returns
// a [Reconciler], of which a [SyncFunc] is the simplest. What else a Controller
// says (Replicas, Selector, Finalizers, ...) is for the laws.
//
// Whoever writes a controller needs no more than these: package simtest runs it
// in a test, package trial once, package cli under every command. A [Cluster]
// alone runs [Process]es and judges nothing; [NewBudget] lets faults strike them.
// What cannot be run at all is told before ([Controller.Check]) or is a [Misuse].
package host
