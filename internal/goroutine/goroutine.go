// Package goroutine distinguishes goroutines. At every API call of a controller, the host checks that the call comes
// from the coroutine that the schedule resumed. A call from a goroutine that a sync started would run outside the
// schedule and race with it.
package goroutine

// ID identifies a goroutine during its lifetime. Another goroutine may later have the same ID, so a stored ID is only
// valid while its goroutine is known to run.
type ID uintptr
