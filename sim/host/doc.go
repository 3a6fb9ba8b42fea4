// Package host is the stepped host: it runs reconcile functions as coroutines
// against a [fakeapi.Server] inside a [sim.World]. A worker gives up the
// processor at every API call; executing the request and delivering the
// response are two steps, and a crash is possible at each.
package host
