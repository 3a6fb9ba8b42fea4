// Package host runs reconcile functions as coroutines against a [fakeapi.Server] in a [sim.World]. It is called the
// stepped host, because a worker yields at every API call: executing the request and delivering the response are two
// steps. A crash is possible before each step.
//
// Five names are enough to write a controller:
//
//   - [Controller] declares the reconciled kind (For), the kinds of the dependents (Owns), the routes, and a factory
//     (New). New is called at every start and after each crash. The Contract says what the laws may expect (see
//     [law.Contract]).
//   - [Route] says which keys an event on a kind enqueues.
//   - [Env] is the argument of the factory: a client, client-go's informers, a client-go queue, and the world's clock.
//   - [Client] sends requests to the server. Other processes may act before each request is executed.
//   - [Reconciler] is the result of the factory. The simplest one is a [SyncFunc].
//
// A complete controller, which the example of [Controller] runs:
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
// [Reconciler] has only the method Sync. A reconciler with memory implements [sim.Digester], so that exhaustive search
// can distinguish states. A [Stateless] function has no memory. A [Waiter] reports the keys that wait for expectations,
// so that a law can find a key that waits forever. The host notifies an [ExpectationObserver] of fulfilled
// expectations, and a [Forgetter] of keys to forget.
//
// Packages bubble and agent host whole programs ([Program]). A program with the method SetExecute can have a request
// executed at once, without a separate step.
//
// # Where to go next
//
// Package simtest runs a controller in a test, package trial runs it once, and package cli runs it in every command. A
// [Cluster] runs each controller as a [Process]. A [Cluster] without a trial evaluates no laws. [Cluster.NewBudget]
// adds faults. If a controller cannot run, [Controller.Check] returns an error, or the host panics with a [Misuse].
package host
