package agent

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/threelaws/threelaws/sim/host"
)

// Binary is a program that was built with the overlay.
type Binary struct {
	Path string
	Name string   // of the operator; its pods are named after it
	Args []string // of its main
	Env  []string // "NAME=value", beside what every process gets

	Replicas    func(number int) Replica // nil for pods that are named after the operator
	Namespace   string                   // of its service account; "" is default
	WorkingDir  string                   // of the image; "" is /
	Repository  string                   // a folder in which it may read files by relative paths; "" for none
	Projections []Projection
	Ports       map[string]int64 // its ports by name, as Services of webhooks name them

	mu    sync.Mutex
	world World         // nil where each life has a process of its own
	idle  []*process    // that have served
	ready chan *process // started ahead
	stop  chan struct{}
	done  sync.WaitGroup
	waits map[string]bool // that were seen
}

// World runs a program in the schedule of a seed until its world has settled. It returns what the program wrote and the
// hash of the run. Seed 0 is the default schedule, without faults. World makes a controller of the program by the
// function that it is given.
type World func(hosting func(as host.Controller) host.Controller, seed uint64) (wrote string, hash uint64)

// pool is where lives get their processes.
type pool interface {
	take() *process             // one that has begun no life
	give(p *process, now int64) // ends its life at a time
}

// ahead is how many processes are started before anybody needs them.
const ahead = 2

// rehearsals is how many schedules Reuse tries.
const rehearsals = 6

// Reuse lets each process of a function serve many lives, one after the other, if one that has served others answers a
// world exactly as one that has not: the hash of the run covers every request and every answer. What a process does once,
// as to fill caches, it does in worlds that are run and discarded before its first life.
//
// Reuse tries it: two processes run the same schedules, in opposite order. Where they differ, or where the program leaves
// anything behind, every life has a new process, and why says in one line what is in the way. No life may go on while
// Reuse runs. World is called again for each new process.
func (b *Binary) Reuse(world World) (why string) {
	b.Close()
	b.world = nil
	if world == nil {
		return ""
	}
	var hashes [rehearsals]uint64
	for process := range 2 {
		one := &single{binary: b, process: b.start()}
		wrote := one.warm(world)
		for i := range hashes {
			seed := i
			if process == 1 {
				seed = rehearsals - 1 - i
			}
			if one.why != "" {
				break
			}
			now, hash := one.run(world, uint64(seed))
			if one.why == "" && (process == 1 && hash != hashes[seed] || seed == 0 && now != wrote) {
				one.why = "it does not do the same where it has run before in its process: package variables keep their values"
				one.process.kill()
			}
			hashes[seed] = hash
		}
		if one.why != "" {
			b.Close()
			return one.why
		}
		b.idle = append(b.idle, one.process)
	}
	b.world = world
	return ""
}

// single is a pool of one process.
type single struct {
	binary  *Binary
	process *process
	begun   bool   // a life of the process
	goes    bool   // it goes on
	why     string // the process serves no other life
}

// warm runs schedules for what the process does once, as a metric is made when a request is first refused: that takes
// time, so the hashes are others. It returns what the program wrote in the first.
func (s *single) warm(world World) (wrote string) {
	for seed := range uint64(rehearsals) {
		if text, _ := s.run(world, seed); seed == 0 {
			wrote = text
		}
		if s.why != "" {
			break
		}
	}
	return wrote
}

// run runs a world in the process.
func (s *single) run(world World, seed uint64) (wrote string, hash uint64) {
	s.begun = false
	wrote, hash = world(func(as host.Controller) host.Controller { return s.binary.hosted(as, s) }, seed)
	switch {
	case s.why != "":
	case !s.begun:
		s.why = "its world was not run"
		s.process.kill()
	case s.goes && s.process.broken != nil:
		s.why = s.process.broken.Error()
	case s.goes:
		s.why = "it ended by itself"
		if s.process.ending != nil {
			s.why += ": " + strings.ReplaceAll(s.process.ending.Error(), "\n\t", " ")
		}
	}
	return wrote, hash
}

func (s *single) take() *process {
	if s.goes || s.why != "" { // another replica has it, or it has ended
		return s.binary.start()
	}
	s.begun, s.goes = true, true
	return s.process
}

func (s *single) give(p *process, now int64) {
	if p != s.process || s.why != "" {
		p.kill()
		return
	}
	if s.goes, s.why = false, s.binary.finish(p, now); s.why != "" {
		p.kill()
	}
}

// finish ends the life of a process. It says why the process can serve no other, "" where it can.
func (b *Binary) finish(p *process, now int64) (why string) {
	if why = p.finish(now); why != "" {
		return why
	}
	if len(b.Projections) == 0 && slices.Equal(b.stamp(p.root), p.stamp) {
		return ""
	}
	if err := b.tidy(p.root); err != nil {
		return err.Error()
	}
	p.stamp = b.stamp(p.root)
	return ""
}

// take returns a process that has begun no life.
func (b *Binary) take() *process {
	b.mu.Lock()
	if n := len(b.idle); n > 0 {
		p := b.idle[n-1]
		b.idle = b.idle[:n-1]
		b.mu.Unlock()
		return p
	}
	if b.ready == nil {
		b.ready, b.stop = make(chan *process, ahead), make(chan struct{})
		b.done.Add(1)
		go b.prepare(b.ready, b.stop)
	}
	ready := b.ready
	b.mu.Unlock()
	return <-ready
}

// give takes a process back.
func (b *Binary) give(p *process, now int64) {
	if b.world == nil || b.finish(p, now) != "" {
		p.kill()
		return
	}
	b.mu.Lock()
	b.idle = append(b.idle, p)
	b.mu.Unlock()
}

// prepare starts processes ahead, until it is stopped.
func (b *Binary) prepare(ready chan<- *process, stop <-chan struct{}) {
	defer b.done.Done()
	runtime.LockOSThread() // a process ends with the thread that started it
	for {
		p := b.start()
		if b.world != nil {
			one := &single{binary: b, process: p}
			if one.warm(b.world); one.why != "" { // and nothing did before: its first life says what is wrong
				p = b.start()
			}
		}
		select {
		case ready <- p:
		case <-stop:
			p.kill()
			return
		}
	}
}

// Close kills the processes that serve no life. The binary may be used again.
func (b *Binary) Close() {
	b.mu.Lock()
	idle, ready, stop := b.idle, b.ready, b.stop
	b.idle, b.ready = nil, nil
	b.mu.Unlock() // a process that is warmed up ahead needs it
	for _, p := range idle {
		p.kill()
	}
	if ready == nil {
		return
	}
	close(stop)
	b.done.Wait()
	for len(ready) > 0 {
		(<-ready).kill()
	}
}
