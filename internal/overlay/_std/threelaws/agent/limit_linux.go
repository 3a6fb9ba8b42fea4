package agent

import (
	"runtime"
	"syscall"
	"unsafe"
)

// mostMemory is the maximal memory of a hosted process in bytes.
const mostMemory = 2 << 30

// limit makes the process fail when it uses too much memory. It also disables core files, and refuses to start programs
// and to open sockets of the network. Only programs that use raw system calls need the refusals: packages os and net
// do not come that far.
func limit() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
	if err := refuse(); err != 0 && err != syscall.ENOSYS && err != syscall.EINVAL { // a kernel may lack seccomp
		fail("the system calls of the program cannot be limited by seccomp: " + err.Error())
	}
}

// machine contains the numbers of the system calls of a processor.
type machine struct {
	audit                             uint32 // AUDIT_ARCH of linux/audit.h
	seccomp, execve, execveat, socket uint32
}

var machines = map[string]machine{
	"amd64": {0xc000003e, 317, 59, 322, 41},
	"arm64": {0xc00000b7, 277, 221, 281, 198},
}

// These constants are from linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
const (
	noNewPrivileges = 38
	setFilter       = 1
	allThreads      = 1
	load            = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
	equal           = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
	answer          = syscall.BPF_RET | syscall.BPF_K
	allow           = 0x7fff0000
	refusal         = 0x00050000
	atNumber        = 0 // offsets in struct seccomp_data, for little-endian machines
	atMachine       = 4
	atArgument      = 16
)

// refuse makes the kernel answer execve, execveat, and socket with AF_INET or AF_INET6 with EPERM, in all threads.
func refuse() syscall.Errno {
	m, known := machines[runtime.GOARCH]
	if !known {
		return 0
	}
	filter := []syscall.SockFilter{
		{Code: load, K: atMachine},
		{Code: equal, K: m.audit, Jf: 7},
		{Code: load, K: atNumber},
		{Code: equal, K: m.execve, Jt: 5},
		{Code: equal, K: m.execveat, Jt: 4},
		{Code: equal, K: m.socket, Jf: 4},
		{Code: load, K: atArgument},
		{Code: equal, K: syscall.AF_INET, Jt: 1},
		{Code: equal, K: syscall.AF_INET6, Jf: 1},
		{Code: answer, K: refusal | uint32(syscall.EPERM)},
		{Code: answer, K: allow},
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); err != 0 {
		return err
	}
	_, _, err := syscall.RawSyscall(uintptr(m.seccomp), setFilter, allThreads, uintptr(unsafe.Pointer(&program)))
	return err
}
