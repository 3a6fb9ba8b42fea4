// Package host is the stepped host: it runs reconcile functions as coroutines against a [fakeapi.Server]
// inside a [sim.World]. A worker yields at every API call. Executing the request and delivering the response
// are two steps, and a crash is possible at each.
//
// Five names are enough to write a controller:
//
//   - [Controller] is a value: the kind it syncs (For), the kinds it makes (Owns), its routes, and a factory
//     (New) that is called at every start and after each crash. Its Contract says what the laws may expect
//     (see [law.Contract]).
//   - [Route] says which keys an event on a kind enqueues.
//   - [Env] is the factory's environment: a client, client-go's informers, a client-go queue, and the world's
//     clock.
//   - [Client] is the API; each call is a step of its own.
//   - [Reconciler] is the factory's result. The simplest is a [SyncFunc].
//
// A whole one, as [Controller]'s example runs it:
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
// # Optional methods of a reconciler
//
// [Reconciler] has only Sync. A reconciler with a memory of its own implements [sim.Digester], so that
// exhaustive search can tell states apart. A [Stateless] function promises to have none. A [Waiter] waits for
// expectations, so that one that waits for ever is found. An [ExpectationObserver] sees its expectations
// fulfilled, and a [Forgetter] learns that one of its objects is gone.
//
// Packages bubble and agent host whole programs ([Program]). A program with the method SetExecute may have calls executed at once.
//
// # Where to go next
//
// Package simtest runs a controller in a test, package trial once, package cli under every command. A
// [Cluster] alone runs each controller as a [Process] and judges nothing; [Cluster.NewBudget] adds faults. A
// controller that cannot run is an error of [Controller.Check] or a [Misuse].
package host
