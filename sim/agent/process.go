package agent

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/threelaws/threelaws/internal/overlay/wire"
)

// process is a process of a program.
type process struct {
	cmd     *exec.Cmd
	root    string   // a folder of its own
	in      *os.File // commands
	out     *bufio.Reader
	outFile *os.File
	crash   log           // what the runtime printed
	printed log           // what the program printed
	all     *log          // as well, in all lives; nil before the first
	waited  chan struct{} // closed when it has ended
	broken  error         // it could not be started

	answers   map[int64]wire.Message // of webhooks
	recovered string                 // a panic that a library has recovered and logged
	deadlock  string                 // what the last command to print goroutines found
	waits     []string               // as well
}

// start starts a process. Where it cannot, every command to it fails.
func (b *Binary) start() *process {
	p := &process{cmd: exec.Command(b.Path, b.Args...), waited: make(chan struct{}), answers: map[int64]wire.Message{}}
	if p.root, p.broken = b.root(); p.broken != nil {
		return p
	}
	commands, in, err := os.Pipe()
	if err != nil {
		p.broken = err
		return p
	}
	defer commands.Close()
	out, reports, err := os.Pipe()
	if err != nil {
		in.Close()
		p.broken = err
		return p
	}
	defer reports.Close()
	p.in, p.outFile, p.out = in, out, bufio.NewReaderSize(out, 1<<16)
	p.cmd.Dir = filepath.Join(p.root, b.WorkingDir)
	p.cmd.Env = append(b.environment(p.root), wire.Environment+"="+wire.Version,
		"GODEBUG=asynctimerchan=0", "GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=crash", "TZ=UTC")
	p.cmd.Stdout, p.cmd.Stderr = &p.crash, &p.crash
	p.cmd.ExtraFiles = []*os.File{commands, reports}
	alone(p.cmd)
	if err := p.cmd.Start(); err != nil {
		p.broken = err
		p.close()
		return p
	}
	go func() {
		_ = p.cmd.Wait() // how it ended stands in its state
		close(p.waited)
	}()
	return p
}

func (p *process) close() {
	if p.in != nil {
		p.in.Close()
		p.outFile.Close()
	}
	_ = os.RemoveAll(p.root) // a folder of the system's temporary files
}

// kill ends the process.
func (p *process) kill() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // it may have ended by itself
		<-p.waited
	}
	p.close()
}

const (
	looks   = time.Second      // how often a process that does not answer is looked at
	busy    = 5 * time.Second  // of processor time on one command: an endless loop
	blocked = 30 * time.Second // of real time without an answer: a system call that does not return. The world waits for 45 s.
)

// tell sends a command and waits for its report. Requests that the program makes meanwhile are answered by
// ask. An error is that the process has ended, and how.
func (p *process) tell(m wire.Message, ask func(wire.Message) wire.Message) (wire.Message, error) {
	if p.broken != nil {
		return nil, p.broken
	}
	began, used := time.Now(), time.Duration(-1) // not read until the process is late
	err := m.Write(p.in)
	for err == nil {
		_ = p.outFile.SetReadDeadline(time.Now().Add(looks)) // pipes have deadlines
		if _, err = p.out.Peek(1); os.IsTimeout(err) {
			if used < 0 {
				used = p.used()
			}
			if time.Since(began) < blocked && p.used()-used < busy {
				err = nil
				continue
			}
		}
		_ = p.outFile.SetReadDeadline(time.Time{})
		var r wire.Message
		if err == nil {
			r, err = wire.Read(p.out)
		}
		if err != nil {
			break
		}
		switch op := r.TakeNum(); op {
		case wire.Report:
			return r, nil
		case wire.Ask:
			answer := ask(r)
			err = answer.Write(p.in)
		case wire.Output:
			text := r.TakeBytes()
			p.printed.Write(text)
			if p.all != nil {
				p.all.Write(text)
			}
			if p.recovered == "" && bytes.Contains(text, []byte(observed)) {
				p.recovered = recovered(string(text))
			}
		case wire.Answer:
			p.answers[r.TakeNum()] = r
		case wire.Dump:
			circle, outside, all := numbers(&r), numbers(&r), goroutines(r.TakeText())
			p.deadlock, p.waits = deadlock(circle, all), waits(outside, all)
		default:
			panic(fmt.Sprintf("agent: the process of %s sent %d", p.cmd.Path, op))
		}
	}
	if os.IsTimeout(err) {
		return nil, p.looped()
	}
	select {
	case <-p.waited:
	case <-time.After(looks): // it has closed its end of the pipe and goes on
	}
	p.kill()
	return nil, p.ended()
}

// most is how much of what a program prints is kept.
const most = 1 << 20

// log keeps the last of what is written to it.
type log struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if len(l.text) > 2*most {
		l.text = append([]byte(nil), l.text[len(l.text)-most:]...)
	}
	return len(b), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// last returns the last lines that are not empty.
func (l *log) last(n int) []string {
	lines := strings.FieldsFunc(l.String(), func(r rune) bool { return r == '\n' })
	return lines[max(0, len(lines)-n):]
}
