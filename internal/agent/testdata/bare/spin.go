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
