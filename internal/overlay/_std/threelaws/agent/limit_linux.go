package agent

import "syscall"

// mostMemory is how much memory a hosted process may use.
const mostMemory = 2 << 30

// limit makes the runtime end a process that uses too much memory. It disables core files.
func limit() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
}
