package agent

import "syscall"

// mostMemory is the maximal memory of a hosted process in bytes.
const mostMemory = 2 << 30

// limit makes the process fail when it uses too much memory. It also disables core files.
func limit() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
}
