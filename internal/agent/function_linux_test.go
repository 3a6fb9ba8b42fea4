package agent_test

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// BenchmarkTwoFunctions runs a function in one world, and in two worlds concurrently. A world and its process are bound
// to one processor. Otherwise the kernel may run both worlds on the same processor. Run it with -cpu 2.
func BenchmarkTwoFunctions(b *testing.B) {
	var worlds [2]chan func()
	var settle [2]func(seed int) (wait func())
	for i := range worlds {
		worlds[i] = processor(b, i)
		do := func(work func()) (wait func()) {
			done := make(chan struct{})
			worlds[i] <- func() {
				defer close(done)
				work()
			}
			return func() { <-done }
		}
		f, why := function(b), ""
		do(func() { why = f.Reuse(rehearsal(b)) })()
		if why != "" {
			b.Fatal(why)
		}
		settle[i] = func(seed int) func() { return do(func() { settles(b, f.Controller(keeper), seed) }) }
	}
	m := medians(b, func(i int) { settle[0](i)() }, func(i int) {
		one, other := settle[0](2*i), settle[1](2*i+1)
		one()
		other()
	})
	b.ReportMetric(2/m[1], "schedules/s")
	b.ReportMetric(2*m[0]/m[1], "of-one")
}

// processor returns a channel of functions. They and the processes that they start run on one processor.
func processor(b *testing.B, i int) chan func() {
	work := make(chan func())
	b.Cleanup(func() { close(work) })
	go func() {
		runtime.LockOSThread()
		mask := uint64(1) << (i % runtime.NumCPU())
		_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
		if failed != 0 {
			b.Error(failed)
		}
		for do := range work {
			do()
		}
	}()
	return work
}
