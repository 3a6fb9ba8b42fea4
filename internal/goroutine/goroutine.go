// Package goroutine distinguishes goroutines. At every API call of a controller, the host checks that the call comes
// from the coroutine that the schedule has resumed. A goroutine that a reconciler has started runs outside the
// schedule. Its calls would make runs differ.
package goroutine

// ID identifies a running goroutine. After a goroutine has ended, another goroutine may get the same ID.
type ID uintptr
