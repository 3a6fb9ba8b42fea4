package agent

import "syscall"

// mostMemory is how much memory a hosted process may use.
const mostMemory = 2 << 30

// limit makes the runtime end a process whose memory grows without end. No crash leaves a core file.
func limit() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
}
