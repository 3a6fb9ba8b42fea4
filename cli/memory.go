package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// memoryLimit limits the memory of the process to a number of MiB. It returns a function that a search calls often. The
// function returns a reason to stop if reachable memory reaches half of the limit, otherwise "". Below this half, the
// garbage collector keeps the process within the limit. For 0 MiB (no limit), memoryLimit returns nil.
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

// once wraps full. The wrapper calls full until full returns a reason. After that it always returns the same reason. So
// a search reports why it ended, even if memory is free again. If full is nil, once returns nil.
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
