// Package controllerruntime runs reconcilers of controller-runtime v0.24 in simulations, with package sim/host. It
// calls an unchanged SetupWithManager with a manager that records For, Owns, Watches, predicates, mapping functions,
// field indexes and controller options. From these it makes one [host.Controller] for each controller that
// SetupWithManager sets up. Handlers, predicates and mapping functions run with controller-runtime's own code.
//
//	func TestWidget(t *testing.T) {
//		setup := func(mgr ctrl.Manager) error { // makes a new reconciler at every call
//			return (&WidgetReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
//		}
//		controllers, err := controllerruntime.Controllers(scheme, setup, controllerruntime.Options{})
//		if err != nil {
//			t.Fatal(err)
//		}
//		controllers[0].Contract.Replicas = controllerruntime.Of(func(w *v1.Widget) int { return int(w.Spec.Replicas) })
//		simtest.Check(t, simtest.Case{Controllers: controllers, With: []string{"gc"}, Files: []string{"config/crd"}})
//	}
//
// The setup function is called once before the world runs, to find the controllers. It is called again at every start
// of a process, also after a crash, because a crash loses the reconciler's memory. The setup function must make a new
// reconciler each time. It is an error if two calls use the same pointer.
//
// # What is the same as in a manager
//
// The client of [manager.Manager.GetClient] returns copies of objects in the process's simulated informers. By default
// it reads unstructured objects from the server, like a manager's client ([Options]). The reader of
// [manager.Manager.GetAPIReader] reads from the server. Every read from the server and every write is one request. At
// each request, the schedule may switch to another process. Errors are the same as from controller-runtime's client.
// Delays, retries and rate limiters, such as token buckets, use the world's clock. A panic violates never-panic, with
// any value of RecoverPanic. After a TerminalError there is no retry.
//
// # What differs
//
//   - Each controller is a process with its own caches. So two controllers of one manager lag and crash separately, as
//     if they ran in two managers.
//   - Typed, metadata-only and unstructured reads of one kind share one cache. controller-runtime has three caches for
//     them.
//   - A kind that a reconciler reads and no source of the manager watches must be in [Options.Reads]. Otherwise the read
//     panics with a message that names the kind. controller-runtime would start an informer during the reconcile, and
//     wait for it.
//   - Access reviews are answered without a request: everything is allowed.
//   - Requests are handled in the order of their arrival, without a priority queue. The context of Reconcile has no
//     deadline and no ReconcileID, and never ends.
//   - Goroutines that a Reconcile starts may call the API only with [Options.Goroutines].
//   - These features are refused with an error that names them: other runnables and webhooks (unless they are in
//     [Options.LeaveOut]), channel sources, watches added later, requests of another type, and clients made with
//     GetConfig or GetHTTPClient.
//   - Events are written to the API only with [Options.WriteEvents].
package controllerruntime
