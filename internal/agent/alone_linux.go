package agent

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// alone makes the kernel kill the process when the thread that started it ends. Ctrl-C does not reach the process.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// killAll kills a process, and the children that it has forked. An error means that they have already ended.
func killAll(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// used returns the CPU time that the process has used, or 0 if it cannot be read.
func (p *process) used() time.Duration {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	// The second field of the file is the name in parentheses. Fields 14 and 15 are the times, in units of 10 ms.
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	user, _ := strconv.Atoi(string(f[11]))
	system, _ := strconv.Atoi(string(f[12]))
	return time.Duration(user+system) * 10 * time.Millisecond
}
