package agent

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/internal/overlay/wire"
)

type process struct {
	cmd     *exec.Cmd
	root    string      // the process's own directory
	stamp   []time.Time // modification times in root before the current life
	in      *os.File    // the pipe for commands to the process
	out     *bufio.Reader
	outFile *os.File
	crash   log           // what the Go runtime prints
	printed log           // what the program prints
	all     *log          // the replica's output in all its lives; nil between lives
	waited  chan struct{} // closed when the process has ended
	broken  error         // why the process could not be started
	ending  error         // why the process ended by itself
	served  int           // the number of finished lives
	dog     watchdog

	answers   map[int64]wire.Message // answers of webhooks, by number of the call (life.called)
	recovered string                 // a panic that was recovered and logged by a library
	deadlock  string                 // the deadlock found by the last wire.Stacks command
	waits     []string               // the waits found by the last wire.Stacks command
}

// start starts a process. If that fails, it returns a process for which every command fails.
func (b *Binary) start(life int) *process {
	p := &process{cmd: exec.Command(b.Path, b.Args...), waited: make(chan struct{}), answers: map[int64]wire.Message{}}
	if p.root, p.broken = b.root(); p.broken != nil {
		return p
	}
	p.stamp = b.stamp(p.root)
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
	out.Fd() // sets blocking mode: a read takes half as long as with Go's poller
	p.in, p.outFile, p.out = in, out, bufio.NewReaderSize(out, 1<<16)
	p.dog.process, p.dog.hung = p, &b.hung
	p.cmd.Dir = filepath.Join(p.root, b.WorkingDir)
	p.cmd.Env = append(b.environment(p.root), wire.Environment+"="+wire.Version,
		wire.Life+"="+strconv.Itoa(life),
		"GODEBUG=asynctimerchan=0", "GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=crash", "TZ=UTC")
	p.cmd.Stdout, p.cmd.Stderr = &p.crash, &p.crash
	p.cmd.ExtraFiles = []*os.File{commands, reports}
	p.cmd.WaitDelay = looks // a forked child may keep the output open
	alone(p.cmd)
	if err := p.cmd.Start(); err != nil {
		p.broken = err
		p.close()
		return p
	}
	go func() {
		_ = p.cmd.Wait() // p.ended reads the result from cmd.ProcessState
		close(p.waited)
	}()
	return p
}

func (p *process) close() {
	if p.in != nil {
		p.in.Close()
		p.outFile.Close()
	}
	_ = os.RemoveAll(p.root) // if this fails, a temporary directory stays
}

func (p *process) kill() {
	if p.cmd.Process != nil {
		killAll(p.cmd.Process)
		<-p.waited
	}
	p.close()
}

const (
	looks   = time.Second      // the time between two checks of a process that does not answer
	dying   = 10 * time.Second // the time in which a process prints its stacks after SIGQUIT; a busy machine is slow
	busy    = 5 * time.Second  // a process that uses this CPU time without an answer is in an endless loop
	again   = time.Second      // the same, for a program that has already been in an endless loop
	blocked = 30 * time.Second // a process that does not answer for this real time is in a blocked system call
)

// parting is the CPU time that an ending program may use before the watchdog kills it.
const parting = time.Second

// watchdog kills a process that does not answer.
type watchdog struct {
	process *process
	hung    *atomic.Bool // the program has been in an endless loop, in this process or in another
	timer   *time.Timer

	mu    sync.Mutex
	waits bool // an answer is expected
	parts bool // the program is ending, and is killed if that takes too long
	began time.Time
	used  time.Duration // the process's CPU time at the first check; negative before the first check
	late  bool          // the watchdog has ended the process
}

// begin starts to watch a process that must answer a command. parts says that the command ends the program.
func (w *watchdog) begin(parts bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits, w.parts, w.began, w.used = true, parts, time.Now(), -1
	if w.timer == nil {
		w.timer = time.AfterFunc(looks, w.look)
	} else {
		w.timer.Reset(looks)
	}
}

// end stops the watchdog when the answer has arrived. It reports whether the watchdog had already killed the process.
func (w *watchdog) end() (late bool) {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = false
	return w.late
}

func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.waits {
		return
	}
	if w.used < 0 {
		w.used = w.process.used()
	}
	used, waited := w.process.used()-w.used, time.Since(w.began)
	switch {
	case w.late || w.parts && (used >= parting || waited >= blocked):
		w.late = true
		killAll(w.process.cmd.Process)
	case used >= busy || used >= again && w.hung.Load() || waited >= blocked:
		w.late = true
		w.hung.Store(w.hung.Load() || used >= busy)
		quit(w.process.cmd.Process)
		w.timer.Reset(dying)
	default:
		w.timer.Reset(looks)
	}
}

// finish ends the program, but keeps the process. It returns "", or why the process cannot be used for another life.
func (p *process) finish(now int64) (why string) {
	if p.broken != nil {
		return p.broken.Error()
	}
	p.dog.begin(true)
	err := wire.Command(wire.Close, now).Write(p.in)
	var r wire.Message
	for err == nil {
		if r, err = wire.Read(p.out); err == nil && r.TakeNum() == wire.Closed {
			break // the program has ended: nothing that the process sends after this message is needed
		}
	}
	switch late := p.dog.end(); {
	case late:
		return "it goes on when its context has ended"
	case err != nil:
		return "its process ends with its context"
	case r.TakeText() != "":
		return "goroutines go on when its context has ended"
	}
	p.served++
	p.answers, p.recovered, p.deadlock, p.waits, p.all = map[int64]wire.Message{}, "", "", nil, nil
	p.printed.clear()
	p.crash.clear()
	return ""
}

// tell sends a command and waits for the report. Meanwhile, the function ask answers the program's requests. An error
// means that the process could not be started or has ended, and says why.
func (p *process) tell(m wire.Message, ask func(wire.Message) wire.Message, announced func(int64, wire.Message)) (wire.Message,
	error) {
	if p.broken != nil {
		return nil, p.broken
	}
	p.dog.begin(false)
	err := m.Write(p.in)
	for err == nil {
		var r wire.Message
		if r, err = wire.Read(p.out); err != nil {
			break
		}
		switch op := r.TakeNum(); op {
		case wire.Report:
			p.dog.end()
			return r, nil
		case wire.Ask:
			answer := ask(r)
			err = answer.Write(p.in)
		case wire.Output:
			text := bytes.ReplaceAll(r.TakeBytes(), []byte(p.root), nil) // the directory has another name in each process
			p.printed.Write(text)
			if p.all != nil {
				p.all.Write(text)
			}
			if p.recovered == "" && bytes.Contains(text, []byte(observed)) {
				p.recovered = recovered(string(text))
			}
		case wire.Begin, wire.Saw, wire.End:
			announced(op, r)
		case wire.Answer:
			p.answers[r.TakeNum()] = r
		case wire.Dump:
			circle, outside, all := numbers(&r), numbers(&r), goroutines(r.TakeText())
			p.deadlock, p.waits = deadlock(circle, all), waits(outside, all)
		case wire.Closed:
			p.broken = fmt.Errorf("the program cannot be run in a bubble: %s", r.TakeText())
			return nil, p.broken
		default:
			panic(fmt.Sprintf("agent: the process of %s sent %d", p.cmd.Path, op))
		}
	}
	if p.dog.end() {
		p.ending = p.looped()
		return nil, p.ending
	}
	select {
	case <-p.waited:
	case <-time.After(looks): // the process has closed the pipe but still runs
	}
	p.kill()
	p.ending = p.ended()
	return nil, p.ending
}

// When a log drops older bytes, it keeps the last 1 MiB.
const most = 1 << 20

// log keeps the last 1 to 2 MiB of the text that is written to it.
type log struct {
	mu   sync.Mutex
	text []byte
}

// Write returns no error.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if len(l.text) > 2*most {
		l.text = append([]byte(nil), l.text[len(l.text)-most:]...)
	}
	return len(b), nil
}

func (l *log) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

func (l *log) last(n int) []string {
	lines := strings.FieldsFunc(l.String(), func(r rune) bool { return r == '\n' })
	return lines[max(0, len(lines)-n):]
}
