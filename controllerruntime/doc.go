// Package controllerruntime runs reconcilers of controller-runtime v0.24 in the stepped host. An unchanged
// SetupWithManager becomes one [host.Controller] for each controller that it sets up. The setup gets a manager that
// records For, Owns, Watches, predicates, mapping functions, field indexes and controller options. Handlers, predicates
// and mapping functions run with controller-runtime's own code.
//
//	func TestWidget(t *testing.T) {
//		setup := func(mgr ctrl.Manager) error { // makes a new reconciler at every call
//			return (&WidgetReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
//		}
//		controllers, err := controllerruntime.Controllers(scheme, setup, controllerruntime.Options{})
//		if err != nil {
//			t.Fatal(err)
//		}
//		controllers[0].Replicas = controllerruntime.Of(func(w *v1.Widget) int { return int(w.Spec.Replicas) })
//		simtest.Check(t, simtest.Case{Controllers: controllers, With: []string{"gc"}, Files: []string{"config/crd"}})
//	}
//
// The setup is called once before anything runs, to learn what it sets up. It is called again at every start of a
// process, also after a crash, because a crash loses the reconciler's memory. It must make a new reconciler each time:
// the same pointer twice is an error.
//
// # What is the same as in a manager
//
// The client of [manager.Manager.GetClient] reads from the process's simulated informers and copies what it returns. It
// reads unstructured objects from the server, as a manager's client does by default ([Options]). The reader of
// [manager.Manager.GetAPIReader] reads from the server. Every read from the server and every write is one request, and
// therefore a scheduling point. Errors are those of controller-runtime's own client. Delays, retries and rate limits
// use the world's clock, also in a token bucket. A panic is reported (never-panic), with any value of RecoverPanic.
// After a TerminalError there is no retry.
//
// # What differs
//
//   - Each controller is a separate process with its own caches. Two controllers of one manager run as if in
//     two managers: their caches lag independently, and one can crash without the other.
//   - Typed, metadata-only and unstructured reads of one kind share one cache. In controller-runtime each has
//     its own.
//   - A kind that the reconciler reads and no source watches must be in [Options.Reads], otherwise the read
//     is refused by name. controller-runtime would start an informer in the middle of the reconcile, and wait.
//   - Requests are handled in the order of their arrival, as without a priority queue. Reconcile's context
//     has no deadline and no ReconcileID, and is never cancelled.
//   - Goroutines that a Reconcile starts may call the API only with [Options.Goroutines].
//   - Parts that run beside controllers are refused by name: other runnables, webhooks ([Options.LeaveOut]),
//     channel sources, watches added later, requests of another type, and clients made of GetConfig or
//     GetHTTPClient.
//   - Events are not written to the API ([Options.WriteEvents]).
package controllerruntime
