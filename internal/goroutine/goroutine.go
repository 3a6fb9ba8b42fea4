// Package goroutine distinguishes goroutines. At every API call of a controller, the host checks that the call comes
// from the coroutine that the schedule has resumed. If a reconciler calls from another goroutine that it started, that
// goroutine runs outside the schedule and races with it.
package goroutine

// ID identifies a running goroutine. After a goroutine has ended, another goroutine may get the same ID.
type ID uintptr
