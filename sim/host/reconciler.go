package host

import "context"

// Reconciler is a controller's memory and its sync function. One that can do more
// says so by its methods: a [Waiter], an [ExpectationObserver], a [Forgetter].
//
// One that can digest its memory is a [sim.Digester]: it folds all that a later
// sync, route or timer of it depends on, moments as their distance from now.
// Exhaustive search merges states only where it knows what the controller
// remembers; without it a process's memory is taken to be everything it was ever
// told, in order: each event, each turn at the processor with what was read and
// answered. A [Stateless] function has no memory.
type Reconciler interface {
	// Sync brings the object named by key ("namespace/name") closer to its
	// desired state. It runs on a coroutine: every call on env.Client is a
	// scheduling point. An error puts the key back with backoff.
	Sync(ctx context.Context, key string) error
}

// SyncFunc is a Reconciler that is one function. It may be a closure that
// remembers: see [Stateless].
type SyncFunc func(ctx context.Context, key string) error

// Sync calls f.
func (f SyncFunc) Sync(ctx context.Context, key string) error { return f(ctx, key) }

// Stateless is a Reconciler that promises to remember nothing from one sync to
// the next, so that exhaustive search merges states without asking what it does.
type Stateless func(ctx context.Context, key string) error

// Sync calls f.
func (f Stateless) Sync(ctx context.Context, key string) error { return f(ctx, key) }

// Waiter is a Reconciler that may sleep until it has seen something (an
// expectation). A key listed when the world is quiet waits for ever (WATCH-7).
type Waiter interface {
	Waiting() []string
}

// ExpectationObserver is a Reconciler whose expectations the host moves as its
// routes say (WATCH-2).
type ExpectationObserver interface {
	// Observed is told that a watch event fulfilled one expected creation or
	// deletion of object (namespace/name) for key.
	Observed(key string, deletion bool, object string)
}

// Forgetter is a Reconciler that drops what it remembers of a key.
type Forgetter interface {
	Forget(key string)
}
