package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// memoryLimit limits the memory of the process to a number of MiB; 0 means no limit. It returns a function that a
// search calls: if reachable memory reaches half of the limit, the result is the reason to stop, otherwise "". Below
// this half, the garbage collector keeps the process within the limit. Without a limit, memoryLimit returns nil.
func memoryLimit(mib int) func() string {
	if mib <= 0 {
		return nil
	}
	limit := uint64(mib) << 20
	live := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	if live() < limit/2 { // with more live memory, garbage collection would take most of the time
		debug.SetMemoryLimit(int64(limit))
	}
	return func() string {
		if live() < limit/2 {
			return ""
		}
		return fmt.Sprintf("bound of %d MiB of memory", mib)
	}
}

// once returns a function that calls full until it returns a reason, and then repeats this reason. So a search reports
// why it ended even if memory is free again. For nil, once returns nil.
func once(full func() string) func() string {
	if full == nil {
		return nil
	}
	var first atomic.Pointer[string]
	return func() string {
		if first.Load() == nil {
			if why := full(); why != "" {
				first.Store(&why)
			}
		}
		if why := first.Load(); why != nil {
			return *why
		}
		return ""
	}
}
