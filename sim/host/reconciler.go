package host

import "context"

// Reconciler is a controller's memory and its sync function. Optional methods make it a [Waiter], an
// [ExpectationObserver] or a [Forgetter].
//
// One that can digest its memory is a [sim.Digester]. It folds everything that a later sync, route or timer
// depends on, with times as their distance from now. Exhaustive search merges states only if it knows what
// the controller remembers. Without a digest, the memory is taken to be everything the process was ever
// shown, in order: each event, and each turn with what was read and answered. A [Stateless] function has no
// memory.
type Reconciler interface {
	// Sync brings the object named by key ("namespace/name") closer to its desired state. It runs on a
	// coroutine: every call on env.Client is a scheduling point. An error puts the key back with back-off.
	Sync(ctx context.Context, key string) error
}

// SyncFunc is a Reconciler that is one function. It may be a closure that remembers: see [Stateless].
type SyncFunc func(ctx context.Context, key string) error

// Sync calls f.
func (f SyncFunc) Sync(ctx context.Context, key string) error { return f(ctx, key) }

// Stateless is a Reconciler that promises to remember nothing from one sync to the next. So exhaustive search
// can merge its states.
type Stateless func(ctx context.Context, key string) error

// Sync calls f.
func (f Stateless) Sync(ctx context.Context, key string) error { return f(ctx, key) }

// Waiter is a Reconciler that may sleep until it has seen something (an expectation). A key that is listed
// when the world is quiet waits for ever (WATCH-7).
type Waiter interface {
	Waiting() []string
}

// ExpectationObserver is a Reconciler whose expectations the host moves as its routes say (WATCH-2).
type ExpectationObserver interface {
	// Observed says that a watch event fulfilled one expected creation or deletion of object (namespace/name)
	// for key.
	Observed(key string, deletion bool, object string)
}

// Forgetter is a Reconciler that can drop its memory of a key.
type Forgetter interface {
	Forget(key string)
}
