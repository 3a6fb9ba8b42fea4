// Package agent runs programs inside a bubble, on commands of a world in another process. It is part of
// the overlaid standard library, so no go.mod needs it and no program is changed.
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
	"runtime/metrics"
	"sync"
	"threelaws/wire"
	"time"
	_ "unsafe" // for linkname
)

// Program is what a life runs. It serves until its context ends. Its requests to the API server go
// through the transport.
type Program func(ctx context.Context, pod, host string, transport http.RoundTripper) error

// Host runs main on commands where a world hosts the process, and then exits; elsewhere it returns. It is
// called before main would begin.
func Host(main func()) {
	if !hosted.On {
		return
	}
	Serve(map[string]Program{"": func(_ context.Context, pod, _ string, transport http.RoundTripper) error {
		os.Setenv("HOSTNAME", pod)
		roundTrip = transport.RoundTrip
		main()
		os.Exit(0)
		return nil
	}})
	os.Exit(0)
}

//go:linkname roundTrip net/http.hostedRoundTrip
var roundTrip func(*http.Request) (*http.Response, error)

//go:linkname seedBubble
func seedBubble(seed uint64)

//go:linkname nextTimer
func nextTimer() int64

//go:linkname deadlock
func deadlock() []uint64

//go:linkname waiting
func waiting() []uint64

//go:linkname goroutine
func goroutine() uint64

// Serve runs programs on commands until the world closes its pipe.
func Serve(programs map[string]Program) {
	if v := os.Getenv(wire.Environment); v != wire.Version {
		fail(fmt.Sprintf("this binary speaks protocol %s, the world %s: build it again", wire.Version, v))
	}
	a := &agent{programs: programs, in: bufio.NewReaderSize(pipe(wire.In), 1<<16), out: pipe(wire.Out)}
	limit()
	hosted.Output = a.output
	runtime.GC() // a collection that goes on would let other goroutines run first
	runtime.GC()
	for {
		m := a.read()
		if op := m.TakeNum(); op != wire.Open {
			panic(fmt.Sprintf("agent: command %c where no world is open", op))
		}
		now := m.TakeNum()
		a.world(now, uint64(m.TakeNum()))
	}
}

type agent struct {
	programs map[string]Program
	in       io.Reader
	out      io.Writer
	sweeps   int
	heap     uint64 // at which garbage is collected

	stirred chan struct{} // of the bubble: a program has made a request, or ended

	mu    sync.Mutex
	lives map[int64]*life
	calls map[int64]*call
	last  int64 // the number of the last call

	// What the next report says:
	withdrawn []int64
	ended     []int64
	errs      []string
}

// life is a program from its start to its end.
type life struct {
	*agent
	id      int64
	cancel  context.CancelFunc
	dead    chan struct{}
	stopped bool
	failed  bool
}

// world is one bubble, from Open to Close.
func (a *agent) world(now int64, seed uint64) {
	a.lives, a.calls, a.last = map[int64]*life{}, map[int64]*call{}, 0
	a.withdrawn, a.ended, a.errs = nil, nil, nil
	left := ""
	func() {
		defer func() {
			if r := recover(); r != nil { // goroutines were left behind
				left = fmt.Sprint(r)
			}
		}()
		synctest.Run(func() {
			seedBubble(seed)
			a.stirred = make(chan struct{}, 1)
			a.reach(now)
			for again := true; again; {
				synctest.Wait()
				a.report()
				a.sweep()
				again = a.obey(a.read())
			}
			synctest.Wait()
		})
	}()
	var m wire.Message
	m.Text(left)
	a.write(m)
}

// farewell is the virtual time that goroutines have to notice that their world has ended.
const farewell = 10 * time.Second

// obey carries out a command on the bubble's main goroutine. It reports false at the end of the world.
func (a *agent) obey(m wire.Message) bool {
	op, now := m.TakeNum(), m.TakeNum()
	if op == wire.Pass {
		a.pass(now)
		return true
	}
	a.reach(now)
	switch op {
	case wire.Start:
		a.start(m)
	case wire.Stop:
		l := a.lives[m.TakeNum()]
		a.mu.Lock()
		l.stopped = true
		a.mu.Unlock()
		l.cancel()
	case wire.Fail:
		l := a.lives[m.TakeNum()]
		a.mu.Lock()
		l.failed = true
		a.mu.Unlock()
		close(l.dead)
		delete(a.lives, l.id)
	case wire.Reply:
		a.reply(m)
	case wire.Chunk:
		c := a.calls[m.TakeNum()]
		end := m.TakeFlag()
		c.stream.send(end, m.TakeBytes())
	case wire.Call:
		a.webhook(m)
	case wire.Stacks:
		a.dump()
	case wire.Close:
		time.Sleep(farewell)
		return false
	default:
		panic(fmt.Sprintf("agent: there is no command %c", op))
	}
	return true
}

// reach lets time pass.
func (a *agent) reach(now int64) {
	if d := now - time.Now().UnixNano(); d > 0 {
		time.Sleep(time.Duration(d))
	}
}

// pass lets time pass, or until the program makes a request or ends.
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

// stir ends pass.
func (a *agent) stir() {
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

func (a *agent) start(m wire.Message) {
	l := &life{agent: a, id: m.TakeNum(), dead: make(chan struct{})}
	program, pod := m.TakeText(), m.TakeText()
	run := a.programs[program]
	if run == nil {
		fail("it has no program " + program)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	a.lives[l.id] = l
	go func() {
		text := ""
		if err := run(ctx, pod, "http://apiserver", l); err != nil {
			text = err.Error()
		}
		cancel()
		a.mu.Lock()
		a.ended, a.errs = append(a.ended, l.id), append(a.errs, text)
		a.mu.Unlock()
		a.stir()
	}()
}

// report says what has happened since the last report.
func (a *agent) report() {
	var m wire.Message
	m.Num(wire.Report)
	m.Num(time.Now().UnixNano())
	m.Num(nextTimer())
	a.mu.Lock()
	m.Num(int64(len(a.withdrawn)))
	for _, id := range a.withdrawn {
		m.Num(id)
		delete(a.calls, id)
	}
	m.Num(int64(len(a.ended)))
	for i, id := range a.ended {
		m.Num(id)
		m.Text(a.errs[i])
	}
	a.withdrawn, a.ended, a.errs = a.withdrawn[:0], a.ended[:0], a.errs[:0]
	a.mu.Unlock()
	a.write(m)
}

// dump says where the goroutines of the program are, which of them are deadlocked, and which wait for something
// outside the bubble.
func (a *agent) dump() {
	text := make([]byte, 1<<22)
	var m wire.Message
	m.Num(wire.Dump)
	for _, numbers := range [][]uint64{deadlock(), waiting()} {
		m.Num(int64(len(numbers)))
		for _, g := range numbers {
			m.Num(int64(g))
		}
	}
	m.Bytes(text[:runtime.Stack(text, true)])
	a.write(m)
}

// output sends what the program prints.
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
		os.Exit(0) // the world has ended
	} else if err != nil {
		fail("it lost its connection to the world: " + err.Error())
	}
	return m
}

// fail ends the process with a line that the world prints.
func fail(why string) {
	println("threelaws: " + why)
	os.Exit(3)
}

const (
	leastHeap = 64 << 20 // below which no garbage is collected
	sweeps    = 16       // commands from one look at the heap to the next
)

// sweep collects garbage between commands; a collection while goroutines run would change their order.
func (a *agent) sweep() {
	if a.sweeps++; a.sweeps%sweeps != 0 {
		return
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(sample); sample[0].Value.Uint64() < max(a.heap, leastHeap) {
		return
	}
	runtime.GC()
	metrics.Read(sample)
	a.heap = 2 * sample[0].Value.Uint64()
}
