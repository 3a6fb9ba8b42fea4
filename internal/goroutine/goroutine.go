// Package goroutine tells goroutines apart. The host asks, at every API call of
// a controller, whether the call comes from the coroutine that the schedule
// gave the processor to: a call from a goroutine that a sync started would run
// beside the schedule, and race with it.
package goroutine

// ID stands for a goroutine while it lives. After its end another goroutine may
// have the same: whoever keeps one must know that its goroutine still is there.
type ID uintptr
