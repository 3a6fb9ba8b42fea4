package agent

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// alone makes the kernel kill the command when the thread that started it ends. Terminal signals do not reach it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// used returns the processor time of the process, or 0 if it cannot be read.
func (p *process) used() time.Duration {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	// The second field is the name in parentheses. The times are fields 14 and 15, in hundredths of a second.
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	user, _ := strconv.Atoi(string(f[11]))
	system, _ := strconv.Atoi(string(f[12]))
	return time.Duration(user+system) * 10 * time.Millisecond
}
