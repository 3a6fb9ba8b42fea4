// Package bubble hosts whole, unmodified programs that take a [rest.Config] and run until their context ends. Examples
// are a manager, an operator's main, a program with client-go's informers, and the controllers of
// kube-controller-manager.
//
//	widgets := bubble.Controller(host.Controller{Name: "widgets"}, func(ctx context.Context, cfg *rest.Config) error {
//		client, err := kubernetes.NewForConfig(cfg)
//		...
//	})
//
// The result is an ordinary [host.Controller]. It runs in the same worlds as other controllers, under the same faults
// and laws, in tests and in scenario files. The goroutines of all programs of a world run in one bubble of
// testing/synctest, with the world's virtual time. They run until all of them wait. Then the scheduler decides what
// happens next: a pending request is executed, a response is delivered, a watch gets its next event, or time passes.
// Reads from a program's own caches are not steps, because the host cannot see them.
//
// # Determinism
//
// Go makes some choices of a program at random. For example, client-go's caches list in map order. So a program that
// deletes all listed objects deletes them in a different order each time. client-go's informers select their next event
// at random. A test built by "threelaws test" makes no random choices: maps, selects and timers of a bubble have a
// fixed order. Under plain "go test", [NewInformer] returns a deterministic informer for managers that accept one.
// [Informers], [MetadataInformers] and [DynamicInformers] are factories of such informers. If two runs of a schedule
// differ, conformance.Test and simtest.Check run the test again under the overlay.
//
// The first bubble changes some settings of the Go process. It removes utilruntime's error handlers, because they write
// logs and read the wall clock. It adds a panic handler. client-go's feature WatchListClient is off, because its lists
// come in the order of a map. The global source of math/rand is seeded.
//
// # Programs that cannot be hosted
//
// A program cannot be hosted if it never waits, or if it waits for a channel from outside, a file or the real network.
// Hosting also fails if a goroutine holds a mutex while it waits for an answer, and another goroutine waits for that
// mutex. Such a program is reported after half a minute of real time, with the goroutines that caused this. Nothing can
// end these goroutines. Therefore the Go process does not host a program of that name again. While one of these
// goroutines runs, the Go process hosts no program at all.
//
// Three kinds of panics end the program and violate never-panic: on the program's main goroutine, in a reconcile that
// controller-runtime recovers, and on a goroutine that defers HandleCrash of apimachinery. The goroutines of client-go
// and kube-controller-manager do this. If HandleCrash has no context, the panic is attributed to the program that has
// just received a response or an event. After a timer, it is attributed to the world's program if there is only one.
// Any other panic ends the Go process, as usual. If a panic leaves a mutex locked, and another goroutine waits for that
// mutex, this is reported after half a minute.
//
// If an outside source, such as a file, answers at once, the bubble does not notice that the program reads from it. The
// read is found only if two runs of a schedule differ.
package bubble
