package goroutine

import (
	"iter"
	"sync"
	"testing"
)

func TestCurrent(t *testing.T) {
	here := Current()
	var grow func(n int) ID
	grow = func(n int) ID {
		var frame [1024]byte
		if frame[n%1024] = byte(n); n > 0 {
			return grow(n - 1)
		}
		return Current()
	}
	if got := grow(1000); got != here || here == 0 {
		t.Errorf("%x at first, %x on a stack that grew", here, got)
	}
	seen := map[ID]bool{here: true}
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 100 {
		all.Go(func() {
			mu.Lock()
			seen[Current()] = true
			mu.Unlock()
			<-start // all run at the same time
		})
	}
	next, stop := iter.Pull(func(yield func(ID) bool) {
		for yield(Current()) {
		}
	})
	first, _ := next()
	second, _ := next()
	if first != second || first == here {
		t.Errorf("a coroutine is %x, then %x; its caller is %x", first, second, here)
	}
	stop()
	close(start)
	all.Wait()
	if len(seen) != 101 {
		t.Errorf("101 goroutines have %d names", len(seen))
	}
}
