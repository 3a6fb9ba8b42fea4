//go:build unix

package agent

import (
	"io"
	"syscall"
	"unsafe"
)

// pipe reads and writes without releasing the processor. So while a goroutine waits for the response to its request, no
// other goroutine runs, even if the response takes long.
type pipe int

// apart moves a pipe to a descriptor that the program does not use, even if it writes to all low descriptors.
func apart(fd int) pipe {
	moved, _, err := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, firstApart)
	if err != 0 {
		return pipe(fd)
	}
	_ = syscall.Close(fd)
	return pipe(moved)
}

const firstApart = 50 // the kernel needs milliseconds to enlarge a table of 64 descriptors

func (p pipe) Read(b []byte) (int, error) {
	for {
		n, _, err := syscall.RawSyscall(syscall.SYS_READ, uintptr(p), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch {
		case err == syscall.EINTR:
		case err != 0:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return int(n), nil
		}
	}
}

func (p pipe) Write(b []byte) (done int, _ error) {
	for done < len(b) {
		n, _, err := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(p), uintptr(unsafe.Pointer(&b[done])), uintptr(len(b)-done))
		if err != 0 && err != syscall.EINTR {
			return done, err
		} else if err == 0 {
			done += int(n)
		}
	}
	return done, nil
}
