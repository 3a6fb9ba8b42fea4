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
	Name string   // the operator's name, from which its pods are named
	Args []string // the arguments of its main
	Env  []string // "NAME=value", in addition to those of every process

	Replicas    func(number int) Replica // nil for pods named after the operator
	Namespace   string                   // the namespace of its service account; "" is default
	WorkingDir  string                   // the image's working directory; "" is /
	Repository  string                   // a folder in which the program may read files by relative paths; "" for none
	Projections []Projection
	Ports       map[string]int64 // its ports by name, as Services of webhooks name them

	mu    sync.Mutex
	world World         // nil if each life has a process of its own
	idle  []*process    // processes that have served a life
	ready chan *process // processes that were started ahead
	stop  chan struct{}
	done  sync.WaitGroup
	waits map[string]bool // waits that were seen
}

// World runs a program in the schedule of a seed until its world has settled. It returns the program's writes and the
// hash of the run. Seed 0 is the default schedule, without faults. World makes a controller of the program by the given
// function.
type World func(hosting func(as host.Controller) host.Controller, seed uint64) (wrote string, hash uint64)

// pool provides the processes of lives.
type pool interface {
	take() *process             // returns a process without a life
	give(p *process, now int64) // ends the life of a process at a time
}

// ahead is the number of processes that are started before they are needed.
const ahead = 2

// rehearsals is the number of schedules that Reuse tries.
const rehearsals = 6

// Reuse lets each process of a function serve many lives, one after the other. The condition is that a used process
// answers a world exactly like a new one: the hash of the run covers every request and answer. Work that a process does
// only once, such as filling caches, happens in discarded worlds before its first life.
//
// Reuse tests this: two processes run the same schedules, in opposite order. If they differ, or if the program leaves
// anything behind, every life has a new process, and why gives the reason in one line. No life may be running during
// Reuse. World is called again for each new process.
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

type single struct {
	binary  *Binary
	process *process
	begun   bool   // a life of the process has begun
	goes    bool   // the life is running
	why     string // why the process cannot serve another life
}

// warm runs schedules in which a process does work that it does only once, such as making a metric at the first
// refusal. That work takes time and changes the hashes. It returns the program's writes in the first schedule.
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
	if s.goes || s.why != "" { // another replica uses it, or it has ended
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

// finish ends the life of a process. It returns why the process cannot serve another life, or "".
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

// take returns a process without a life.
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

func (b *Binary) give(p *process, now int64) {
	if b.world == nil || b.finish(p, now) != "" {
		p.kill()
		return
	}
	b.mu.Lock()
	b.idle = append(b.idle, p)
	b.mu.Unlock()
}

func (b *Binary) prepare(ready chan<- *process, stop <-chan struct{}) {
	defer b.done.Done()
	runtime.LockOSThread() // a process ends with the thread that started it
	for {
		p := b.start()
		if b.world != nil {
			one := &single{binary: b, process: p}
			if one.warm(b.world); one.why != "" { // the first life then shows the error
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

// Close kills the processes without a life. The binary may be used again.
func (b *Binary) Close() {
	b.mu.Lock()
	idle, ready, stop := b.idle, b.ready, b.stop
	b.idle, b.ready = nil, nil
	b.mu.Unlock() // a process that is being warmed up needs the lock
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
