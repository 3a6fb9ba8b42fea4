package kubectltest

import (
	"runtime"
	"testing"
	"time"
	"fmt"
)

func watchdog(t testing.TB) *time.Timer {
	return time.AfterFunc(patience, func() {
		buf := make([]byte, 1<<20)
		fmt.Printf("%s\n", buf[:runtime.Stack(buf, true)])
		panic("stuck")
	})
}
