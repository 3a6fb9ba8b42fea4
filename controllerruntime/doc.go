// Package controllerruntime runs reconcilers of controller-runtime v0.24 in the
// stepped host: a SetupWithManager as it is becomes one [host.Controller] for each
// controller that it sets up. Nothing is declared again. What For, Owns, Watches,
// predicates, mapping functions, field indexes and controller options say is taken
// from the calls that the setup makes on its manager, which records them; handlers,
// predicates and mapping functions run as controller-runtime has them.
//
//	func TestWidget(t *testing.T) {
//		setup := func(mgr ctrl.Manager) error { // a reconciler of its own at every call
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
// The setup is called once before anything runs, to learn what it sets up, and again
// at every start of a process and after every crash: what the reconciler remembers is
// lost then. It must make a new reconciler each time; one that passes the same pointer
// twice is refused by name.
//
// # What is as in a manager
//
// [manager.Manager.GetClient] reads from the process's simulated informers and copies
// what it returns; it reads unstructured objects live, as the manager's does unless
// told otherwise ([Options]). [manager.Manager.GetAPIReader] reads live. Every live
// read and every write is one request, so a point where the schedule may turn. Errors
// are those that controller-runtime's own client gives. Delays, retries and rate
// limits go by the world's clock, a token bucket too. A panic is reported (never-panic)
// whatever RecoverPanic says, and a TerminalError ends the matter.
//
// # What is not
//
//   - Each controller is a process of its own, with caches of its own: two that one
//     manager runs are as if run by two. They lag apart and crash apart.
//   - Typed, metadata-only and unstructured reads of one kind share one cache; in
//     controller-runtime each has its own.
//   - A kind that the reconciler reads and nothing watches is named in [Options.Reads],
//     or the read is refused by name. controller-runtime would start an informer in the
//     middle of the sync, and wait.
//   - Requests are worked off in the order in which they came, as without a priority
//     queue. Reconcile's context has no deadline, no ReconcileID, and never ends.
//   - Goroutines that a Reconcile starts may call the API with [Options.Goroutines] only.
//   - What runs beside controllers is refused by name: other runnables, webhooks
//     ([Options.LeaveOut]), channel sources, watches that are added while it runs,
//     requests of another type, and clients made of GetConfig or GetHTTPClient.
//   - Events are not written to the API ([Options.WriteEvents]).
package controllerruntime
