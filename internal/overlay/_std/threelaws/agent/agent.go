// Package agent runs a program in a bubble, by commands from a world in another process. It is part of the overlaid
// standard library, so that no program and no go.mod has to be changed.
package agent

import (
	"bufio"
	"context"
	"fmt"
	"internal/hosted"
	"internal/synctest"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"threelaws/wire"
	"time"
	"unsafe"
)

// Host must be called before main begins. If a world hosts the process, Host executes the world's commands, such as
// starting main, and exits. Otherwise it returns.
func Host(main func()) {
	HostFunction(func(context.Context) {
		main()
		os.Exit(0)
	})
}

// HostFunction is like [Host], but for a function, which is called once in each world. The function serves until ctx is
// done. It must end its goroutines before it returns.
func HostFunction(run func(context.Context)) {
	if !hosted.On {
		return
	}
	// During initialization, the runtime locks the goroutine to the main thread, which makes switching slow.
	go serve(run)
	select {}
}

//go:linkname roundTrip net/http.hostedRoundTrip
var roundTrip func(*http.Request) (*http.Response, error)

//go:linkname seedBubble
func seedBubble(seed uint64)

//go:linkname nextTimer
func nextTimer() int64

//go:linkname timerAfter
func timerAfter(after int64) int64

//go:linkname locked
func locked() bool

//go:linkname deadlock
func deadlock() []uint64

//go:linkname waiting
func waiting() []uint64

//go:linkname goroutine
func goroutine() uint64

//go:linkname closeListeners
func closeListeners()

// serve executes commands until the world closes the pipe.
func serve(run func(context.Context)) {
	if v := os.Getenv(wire.Environment); v != wire.Version {
		fail(fmt.Sprintf("this binary speaks protocol %s, the world %s: build it again", wire.Version, v))
	}
	a := &agent{run: run, args: os.Args, env: environment(), in: bufio.NewReaderSize(apart(wire.In), 1<<16), out: apart(wire.Out)}
	a.dir, _ = os.Getwd() // "" if the directory is unknown
	roundTrip, serving = a.RoundTrip, a
	limit()
	debug.SetMaxStack(mostStack)
	hosted.Output = a.output
	runtime.GC() // a later garbage collection could let other goroutines run first
	runtime.GC()
	for {
		m := a.read()
		if op := m.TakeNum(); op != wire.Open {
			panic(fmt.Sprintf("agent: command %c where no world is open", op))
		}
		a.world(m)
	}
}

// mostStack is the maximal stack of a goroutine in bytes. An endless recursion that needs more time to use up its
// stack would be reported as an endless loop.
const mostStack = 64 << 20

// bubbles is a setting without which no bubble can be made: modules for Go before 1.23 have another default.
const bubbles = "asynctimerchan=0"

// environment returns the environment variables of the program: those of the process, except the ones that the world
// needs to run it. Some of them differ from process to process.
func environment() (env []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "THREELAWS_"), name == "GODEBUG", name == "GOMAXPROCS", name == "GOGC", name == "GOTRACEBACK":
		default:
			env = append(env, v)
		}
	}
	return append(env, "GODEBUG="+bubbles)
}

type agent struct {
	run    func(context.Context)
	args   []string // the arguments, environment and directory of the process
	env    []string
	dir    string
	in     io.Reader
	out    io.Writer
	sweeps int
	heap   uint64 // the size in bytes at which garbage is collected
	stacks []byte // a buffer for stacks

	// The state of the current world:
	seed     uint64
	commands uint64
	stirred  chan struct{} // receives a value when a request waits for its response; made in the bubble
	dead     chan struct{} // closed when requests begin to fail; made in the bubble
	cancel   context.CancelFunc

	mu      sync.Mutex
	stopped bool // the program's context was cancelled
	failed  bool // the program's requests fail
	calls   map[int64]*call
	last    int64 // the number of the last call

	withdrawn []int64 // abandoned requests, for the next report

	reconciles map[unsafe.Pointer]int64 // the labels of the goroutines in an announced reconcile -> its number
	begun      int64                    // the number of the last announced reconcile
}

// world runs a bubble, from the command Open to the command Close.
func (a *agent) world(m wire.Message) {
	now := m.TakeNum()
	a.seed, a.commands, a.stopped, a.failed = uint64(m.TakeNum()), 0, false, false
	a.calls, a.last, a.withdrawn, a.cancel = map[int64]*call{}, 0, nil, nil
	a.reconciles, a.begun = map[unsafe.Pointer]int64{}, 0
	a.restore()
	left := ""
	func() {
		defer func() {
			if r := recover(); r != nil { // goroutines were left in the bubble
				left = fmt.Sprint(r)
			}
		}()
		synctest.Run(func() {
			seedBubble(a.seed)
			a.stirred, a.dead = make(chan struct{}, 1), make(chan struct{})
			a.reach(now)
			a.start(m)
			for again := true; again; {
				synctest.Wait()
				a.report()
				a.sweep()
				again = a.obey(a.read())
			}
			synctest.Wait()
		})
	}()
	closeListeners()
	a.collect(leastHeap)
	m = nil
	m.Num(wire.Closed)
	m.Text(left)
	a.write(m)
}

// restore resets the arguments, the environment and the working directory, which the last program may have changed.
func (a *agent) restore() {
	os.Args = a.args
	os.Clearenv()
	for _, v := range a.env {
		a.set(v)
	}
	if a.dir != "" {
		_ = os.Chdir(a.dir) // an error means that the directory was removed
	}
}

func (a *agent) set(v string) {
	for i := range v {
		if v[i] != '=' {
			continue
		}
		name, value := v[:i], v[i+1:]
		if name == "GODEBUG" && value != bubbles {
			value += "," + bubbles
		}
		_ = os.Setenv(name, value) // the value was in an environment, so it is valid
		return
	}
}

// farewell is the virtual time in which goroutines can notice that their world has ended.
const farewell = 10 * time.Second

// obey executes a command on the bubble's main goroutine. It returns false if the world has ended.
func (a *agent) obey(m wire.Message) bool {
	op, now := m.TakeNum(), m.TakeNum()
	// The random numbers of a command do not depend on the earlier worlds of the process.
	a.commands++
	seedBubble((a.seed+1)*0x9e3779b97f4a7c15 + a.commands*0xbf58476d1ce4e5b9)
	if op == wire.Pass {
		a.pass(now)
		return true
	}
	a.reach(now)
	switch op {
	case wire.Reply:
		a.reply(m)
	case wire.Chunk:
		c := a.calls[m.TakeNum()]
		end := m.TakeFlag()
		c.stream.send(end, m.TakeBytes())
	case wire.Call:
		a.webhook(m)
	case wire.Stacks:
		a.dump(m.TakeFlag())
	case wire.Close:
		a.end()
		return false
	default:
		panic(fmt.Sprintf("agent: there is no command %c", op))
	}
	return true
}

// end ends the program. It first cancels the context, so that queues and other goroutines stop. Then requests fail.
func (a *agent) end() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.cancel()
	synctest.Wait()
	a.mu.Lock()
	a.failed = true
	a.mu.Unlock()
	close(a.dead)
	time.Sleep(farewell)
}

func (a *agent) reach(now int64) {
	if d := now - time.Now().UnixNano(); d > 0 {
		time.Sleep(time.Duration(d))
	}
}

// pass advances the time until a given time, or until a request of the program waits for its response.
func (a *agent) pass(to int64) {
	select {
	case <-a.stirred:
	default:
	}
	timer := time.NewTimer(time.Duration(to - time.Now().UnixNano()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.stirred:
	}
}

// stir makes pass return.
func (a *agent) stir() {
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

func (a *agent) start(m wire.Message) {
	_ = os.Setenv("HOSTNAME", m.TakeText()) // Setenv fails only for an invalid name
	for n := m.TakeNum(); n > 0; n-- {
		a.set(m.TakeText())
	}
	if n := m.TakeNum(); n > 0 {
		os.Args = append([]string(nil), a.args[0])
		for ; n > 0; n-- {
			os.Args = append(os.Args, m.TakeText())
		}
	}
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(context.Background())
	go a.run(ctx)
}

// report sends the state of the bubble, and the requests that were abandoned since the last report.
func (a *agent) report() {
	var m wire.Message
	m.Num(wire.Report)
	now := time.Now()
	m.Num(now.UnixNano())
	m.Num(nextTimer())
	m.Num(timerAfter(now.Add(wire.Late).UnixNano()))
	m.Flag(locked())
	a.mu.Lock()
	m.Num(int64(len(a.withdrawn)))
	for _, id := range a.withdrawn {
		m.Num(id)
		delete(a.calls, id)
	}
	a.withdrawn = a.withdrawn[:0]
	a.mu.Unlock()
	a.write(m)
}

// dump sends a message wire.Dump: the deadlocked goroutines, the goroutines that wait for something outside the bubble,
// and the stacks of all goroutines. If there is no deadlock and text is false, it sends nothing.
func (a *agent) dump(text bool) {
	circle := deadlock()
	if circle == nil && !text {
		return
	}
	var m wire.Message
	m.Num(wire.Dump)
	for _, numbers := range [][]uint64{circle, waiting()} {
		m.Num(int64(len(numbers)))
		for _, g := range numbers {
			m.Num(int64(g))
		}
	}
	n := runtime.Stack(a.stacks, true)
	for n == len(a.stacks) { // the text was truncated
		a.stacks = make([]byte, max(2*n, 1<<16))
		n = runtime.Stack(a.stacks, true)
	}
	m.Bytes(a.stacks[:n])
	a.write(m)
}

func (a *agent) output(b []byte) {
	var m wire.Message
	m.Num(wire.Output)
	m.Bytes(b)
	a.write(m)
}

func (a *agent) write(m wire.Message) {
	if err := m.Write(a.out); err != nil {
		fail("it lost its connection to the world: " + err.Error())
	}
}

func (a *agent) read() wire.Message {
	m, err := wire.Read(a.in)
	if err == io.EOF {
		os.Exit(0) // the world has closed the pipe
	} else if err != nil {
		fail("it lost its connection to the world: " + err.Error())
	}
	return m
}

// fail prints a line, which the world shows, and ends the process.
func fail(why string) {
	println("threelaws: " + why)
	os.Exit(3)
}

const (
	leastHeap = 64 << 20 // in bytes; no garbage is collected in a smaller heap
	sweeps    = 16       // the number of commands between two checks of the heap
)

// sweep collects garbage between commands. While goroutines run, a collection would change their order.
func (a *agent) sweep() {
	if a.sweeps++; a.sweeps%sweeps == 0 {
		a.collect(2 * leastHeap)
	}
}

// collect collects garbage if the heap has at least this size, and has doubled since the last collection.
func (a *agent) collect(least uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(sample); sample[0].Value.Uint64() < max(a.heap, least) {
		return
	}
	runtime.GC()
	metrics.Read(sample)
	a.heap = 2 * sample[0].Value.Uint64()
}
