package bubble

import "runtime"

// Patience is set by tests of what hangs.
var Patience = &patience

// AwaitRest returns when no program that was given up runs on.
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
