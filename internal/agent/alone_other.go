//go:build !linux

package agent

import (
	"os"
	"os/exec"
	"time"
)

func alone(*exec.Cmd) {}

// killAll kills a process. An error means that it has already ended.
func killAll(p *os.Process) { _ = p.Kill() }

func (p *process) used() time.Duration { return 0 }
