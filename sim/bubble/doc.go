// Package bubble hosts whole, unmodified programs: anything that takes a [rest.Config] and runs until its context ends.
// That may be a manager, an operator's main, a program built on client-go's informers, or the controllers of
// kube-controller-manager.
//
//	widgets := bubble.Controller(host.Controller{Name: "widgets"}, func(ctx context.Context, cfg *rest.Config) error {
//		client, err := kubernetes.NewForConfig(cfg)
//		...
//	})
//
// The result is a [host.Controller] like any other. It runs in the same worlds, under the same faults and laws, in
// tests and in files. Its goroutines run in a bubble of testing/synctest with the world's virtual time. A world has one
// bubble. Goroutines run until each waits. Then the scheduler decides what happens next: a pending request is executed,
// an answer is delivered, a watch gets its next event, or time passes. Reads from a program's own caches are not steps,
// because the host cannot see them.
//
// # Determinism
//
// Go itself makes some decisions of a program at random. client-go's caches list in the order of a map, so a program
// that adopts or deletes the objects of a lister does so in a different order each time. client-go's informers choose
// at random which of their goroutines runs first. A test built by "threelaws test" makes no random choices: maps,
// selects and timers of a bubble have a fixed order there. Under plain "go test", [NewInformer] makes a deterministic
// informer for managers that accept one. [Informers], [MetadataInformers] and [DynamicInformers] are factories of such
// informers. If two runs of a schedule differ, the error shows the first differing request, field by field.
//
// A bubble changes some settings of the Go process, once. It removes utilruntime's error handlers (one logs, one
// remembers the wall clock) and adds a panic handler. client-go's feature WatchListClient is off, because its lists
// come in the order of a map. The global source of math/rand is seeded.
//
// # Programs that cannot be hosted
//
// Some programs are reported after half a minute of real time, with the goroutines at fault: a program that never
// waits, or that waits for a channel from outside, a file or the real network. Another case is a goroutine that holds a
// mutex while it waits for an answer, if another goroutine waits for that mutex. Nothing can end such goroutines.
// Therefore this Go process hosts no program of that name any more, and no program at all while one of the goroutines
// runs.
//
// A panic ends the program and violates never-panic, with its line, in three cases: on the program's own goroutine, on
// a goroutine that defers HandleCrash of apimachinery, as those of client-go and kube-controller-manager do, and in a
// reconcile that controller-runtime recovers. A HandleCrash without a context is attributed to the program that just
// received something. If time has passed instead, it is attributed to a program that is alone in its world. A panic of
// another goroutine that nothing recovers ends the Go process, as usual. If a panic leaves a mutex locked that another
// goroutine waits for, that is reported with the mutex, after half a minute.
//
// A source outside of the bubble that answers at once is not noticed, such as a file, a fast network, or a clock that
// is not Go's. It shows when two runs of a schedule differ because of it.
package bubble
