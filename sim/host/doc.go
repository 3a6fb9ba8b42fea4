// Package host is the stepped host: it runs reconcile functions as coroutines
// against a [fakeapi.Server] inside a [sim.World]. A worker gives up the
// processor at every API call; executing the request and delivering the response
// are two steps, and a crash is possible at each.
//
// Five names are enough to write a controller:
//
//   - [Controller] is a value: the kind it syncs (For), those it makes (Owns), its
//     routes, and a factory (New) that is called at every start and after each
//     crash. Its Contract says what the laws may expect (see [law.Contract]).
//   - [Route] says which keys an event on a kind enqueues.
//   - [Env] is what the factory is given: a client, client-go's informers and a
//     client-go queue, and the world's clock.
//   - [Client] is the API; its every call is a step of its own.
//   - [Reconciler] is what the factory returns, of which a [SyncFunc] is the simplest.
//
// One whole, as [Controller]'s example runs it:
//
//	greeter := host.Controller{
//		Name: "greeter", For: maps,
//		Routes: []host.Route{{Kind: maps, Do: func(_ host.View, e host.Event, out *host.Effect) {
//			if e.New != nil {
//				out.Keys = append(out.Keys, e.New.(*corev1.ConfigMap).Name)
//			}
//		}}},
//		New: func(env *host.Env) host.Reconciler {
//			return host.SyncFunc(func(ctx context.Context, key string) error {
//				greeting := host.Patch{Type: types.MergePatchType, Data: []byte(`{"data":{"greeting":"hello"}}`)}
//				_, err := env.Client.Patch(ctx, maps, "default", key, greeting)
//				return err
//			})
//		},
//	}
//
// # What a reconciler may be besides
//
// What [Reconciler] has is Sync alone. One with a memory of its own tells what is in
// it as a [sim.Digester], so that exhaustive search can tell states apart; a
// [Stateless] function promises to have none. One that waits for what it expects is a
// [Waiter], so that who waits for ever is found; an [ExpectationObserver] is told of
// what it expects, and a [Forgetter] when an object of its is gone.
//
// A whole program, a [Program], is hosted by packages bubble and agent. One that is
// [Immediate] may have calls executed at once.
//
// # Where to go next
//
// Package simtest runs a controller in a test, package trial once, package cli
// under every command. A [Cluster] alone runs each controller as a [Process] and
// judges nothing; [NewBudget] lets faults strike. What cannot be run at all is told
// before ([Controller.Check]) or is a [Misuse].
package host
