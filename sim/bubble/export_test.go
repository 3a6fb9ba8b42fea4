package bubble

import "runtime"

// Patience is the real time after which a program counts as hung. Tests shorten it.
var Patience = &patience

// AwaitRest waits until no goroutine of an abandoned program runs.
func AwaitRest() {
	for runsOn() {
		runtime.Gosched()
	}
}

func runsOn() bool {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	for _, runs := range givenUp {
		if runs {
			return true
		}
	}
	return false
}
