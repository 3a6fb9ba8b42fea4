package agent

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// mostMemory is the maximal memory of a hosted process in bytes.
const mostMemory = 2 << 30

// limit makes the process fail when it uses too much memory, and disables core files. It also lets the kernel refuse
// what would change the machine. Only programs that use raw system calls need the refusals: packages os and net do not
// come that far.
func limit() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
	m, known := machines[runtime.GOARCH]
	if !known {
		return
	}
	if err := refuse(m); err != 0 {
		if !lacks(err) {
			fail("the system calls of the program cannot be limited by seccomp: " + err.Error())
		}
		return // Landlock needs that refuse took privileges from all threads
	}
	if err := protectFiles(os.Getenv("THREELAWS_ROOT")); err != 0 && !lacks(err) {
		fail("the files that the program can change cannot be limited by Landlock: " + err.Error())
	}
}

// lacks reports whether an error says that the kernel lacks a system call or its option, or that it is disabled.
// EOPNOTSUPP is also the error of AllThreadsSyscall in a program with cgo, such as a test with the race detector.
func lacks(err syscall.Errno) bool {
	return err == syscall.ENOSYS || err == syscall.EINVAL || err == syscall.EOPNOTSUPP
}

// These constants are from linux/landlock.h. The system calls have the same numbers on all processors.
const (
	createRuleset  = 444
	addRule        = 445
	restrictSelf   = 446
	rulesetVersion = 1
	pathBeneath    = 1
	writeFile      = 1 << 1
	removeAndMake  = 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
	refer          = 1 << 13 // since version 2
	truncate       = 1 << 14 // since version 3
)

// protectFiles makes the kernel answer EACCES to all threads that change files, except below root and in /dev.
func protectFiles(root string) syscall.Errno {
	version, _, err := syscall.RawSyscall(createRuleset, 0, 0, rulesetVersion)
	if err == syscall.EPERM || root == "" { // a container's filter may refuse the call
		return 0
	}
	if err != 0 {
		return err
	}
	rights := uint64(writeFile | removeAndMake)
	if version >= 2 {
		rights |= refer
	}
	if version >= 3 {
		rights |= truncate
	}
	rules, _, err := syscall.RawSyscall(createRuleset, uintptr(unsafe.Pointer(&rights)), unsafe.Sizeof(rights), 0)
	if err != 0 {
		return err
	}
	defer syscall.Close(int(rules))
	for dir, allowed := range map[string]uint64{root: rights, "/dev": rights & (writeFile | truncate)} {
		fd, failed := syscall.Open(dir, openPath|syscall.O_CLOEXEC, 0)
		if failed != nil {
			return failed.(syscall.Errno)
		}
		rule := struct { // struct landlock_path_beneath_attr is packed: 12 bytes
			allowed [2]uint32
			fd      int32
		}{[2]uint32{uint32(allowed), uint32(allowed >> 32)}, int32(fd)}
		_, _, err := syscall.RawSyscall6(addRule, rules, pathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		_ = syscall.Close(fd)
		if err != 0 {
			return err
		}
	}
	_, _, err = syscall.AllThreadsSyscall(restrictSelf, rules, 0, 0)
	return err
}

const openPath = 0x200000 // O_PATH

// machine contains the numbers of the system calls of a processor.
type machine struct {
	audit        uint32 // AUDIT_ARCH of linux/audit.h
	seccomp      uint32
	socket, kill uint32
	refused      []uint32 // whatever their arguments are
}

// machines has the calls execve, execveat, ptrace, fchown, fchownat, and on amd64 chown and lchown.
var machines = map[string]machine{
	"amd64": {0xc000003e, 317, 41, 62, []uint32{59, 322, 101, 93, 260, 92, 94, pidfdSendSignal, ioUringSetup}},
	"arm64": {0xc00000b7, 277, 198, 129, []uint32{221, 281, 117, 55, 54, pidfdSendSignal, ioUringSetup}},
}

// These system calls have the same numbers on all processors.
const (
	pidfdSendSignal = 424
	ioUringSetup    = 425
)

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

// refuse makes the kernel answer EPERM to all threads that start programs, change owners of files, open sockets of the
// network or of other programs, or send signals to other processes.
func refuse(m machine) syscall.Errno {
	no := syscall.SockFilter{Code: answer, K: refusal | uint32(syscall.EPERM)}
	yes := syscall.SockFilter{Code: answer, K: allow}
	argument := syscall.SockFilter{Code: load, K: atArgument}
	filter := []syscall.SockFilter{{Code: load, K: atMachine}, {Code: equal, K: m.audit, Jt: 1}, yes, {Code: load, K: atNumber}}
	for _, number := range m.refused {
		filter = append(filter, syscall.SockFilter{Code: equal, K: number, Jf: 1}, no)
	}
	filter = append(filter, syscall.SockFilter{Code: equal, K: m.kill, Jf: 4},
		argument, syscall.SockFilter{Code: equal, K: uint32(syscall.Getpid()), Jf: 1}, yes, no)
	filter = append(filter, syscall.SockFilter{Code: equal, K: m.socket, Jf: 8}, argument)
	for _, family := range []uint32{syscall.AF_UNIX, syscall.AF_INET, syscall.AF_INET6} {
		filter = append(filter, syscall.SockFilter{Code: equal, K: family, Jf: 1}, no)
	}
	filter = append(filter, yes, yes)
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); err != 0 {
		return err
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, err := syscall.RawSyscall(uintptr(m.seccomp), setFilter, allThreads, uintptr(unsafe.Pointer(&program)))
	return err
}
