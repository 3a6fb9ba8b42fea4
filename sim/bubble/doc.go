// Package bubble is the host for whole programs: anything that takes a [rest.Config] and
// runs until its context ends, unmodified: a manager, an operator's main, a program built on
// client-go's informers, the controllers of kube-controller-manager.
//
//	widgets := bubble.Controller(host.Controller{Name: "widgets"}, func(ctx context.Context, cfg *rest.Config) error {
//		client, err := kubernetes.NewForConfig(cfg)
//		...
//	})
//
// What comes of it is a [host.Controller] like any other: it takes part in the same worlds,
// under the same faults and laws, in tests and in files. Its goroutines run in a bubble of
// testing/synctest, of which a world has one, with the world's virtual time. They run until
// each waits; then the scheduler decides what happens next: which of the requests that wait
// is executed, which answer is delivered, which watch is sent its next event, whether time
// passes. Reads from a program's own caches are no steps: nobody can see them.
//
// # What it takes to be deterministic
//
// A program is a function of what it is told only as far as Go lets it. client-go's caches
// list in the order of a map, so a program that adopts or deletes what a lister returns does
// so in another order each time, and its informers draw which of their goroutines goes first.
// A test that "threelaws test" builds draws nothing: maps, selects and timers of a bubble have a fixed order there.
// Under plain "go test", [NewInformer] makes an informer that draws nothing, for a manager that can be told how to, and
// [Informers], [MetadataInformers] and [DynamicInformers] are factories of them. Two runs
// of a schedule that differ are an error, which shows the first request that differs, field by field.
//
// What a bubble sets for the whole Go process, once: utilruntime's error handlers are taken
// out (one logs, one remembers the wall clock), its panic handlers get one more, client-go's
// WatchListClient is off (its lists come in the order of a map), and math/rand's global source is
// seeded.
//
// # What is reported rather than hosted
//
// A program that never waits, that waits for a channel from outside, a file or the real network, or
// one of whose goroutines holds a mutex while it waits for an answer and another wants that mutex, is
// told after half a minute of real time, with the goroutines at fault. Nobody can end them: no
// program of that name is hosted by this Go process any more, and while one runs on, none at all.
//
// A panic ends the program and breaks never-panic, with its line: on the program's own goroutine, on
// one that defers HandleCrash of apimachinery, as client-go's and kube-controller-manager's do, and in
// a reconcile that controller-runtime recovers. HandleCrash without a context is known of the program that
// was told something just now and, where time has passed, of one that is alone in its world. A panic of
// another goroutine that nobody recovers ends the Go process, as anywhere. One that leaves a mutex locked
// which another goroutine wants is told with the mutex, after half a minute.
//
// What answers at once from outside, as a file, a network that is fast, or a clock that is not Go's,
// is not seen: it is found out where two runs of a schedule differ by it.
package bubble
