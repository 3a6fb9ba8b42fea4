package main

// spin never waits. It wakes another goroutine, which is then ready to run.
func spin(wake chan struct{}) {
	for {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

func depth(n int) int { return depth(n+1) + 1 }

var sum uint32

// work uses CPU time.
func work() {
	for i := range uint32(1 << 24) {
		sum = sum*31 + i
	}
}
