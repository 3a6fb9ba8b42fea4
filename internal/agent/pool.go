package agent

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/threelaws/threelaws/sim/host"
)

// Binary is an operator's executable, built with the overlay of package internal/overlay.
type Binary struct {
	Path string
	Name string   // the operator's name, from which the names of its pods are derived
	Args []string // the arguments of the operator's main
	Env  []string // "NAME=value", added to the environment of every process

	Replicas    func(number int) Replica // describes a replica; nil if the pods are named Name-0, Name-1, and so on
	Namespace   string                   // the namespace of the service account; "" means "default"
	Account     string                   // the service account that makes the requests; "" means the administrator
	WorkingDir  string                   // the image's working directory; "" is /
	Announces   bool                     // the program announces its reconciles: see [overlay.Built]
	Repository  string                   // a directory whose files the program may read by relative paths; "" for none
	Projections []Projection
	Folders     []string         // folders that are empty when a life begins, for example mounts of emptyDir volumes
	Ports       map[string]int64 // port numbers by name; the targetPort of a webhook's Service can be such a name

	mu    sync.Mutex
	world World            // the argument of Reuse; nil if every life has a new process
	idle  []*process       // processes that have finished a life and can be used again
	ready [2]chan *process // processes that were started before they are needed, for the first lives of a world
	stop  chan struct{}
	done  sync.WaitGroup
	hung  atomic.Bool     // a process of the program was in an endless loop
	waits map[string]bool // the texts that [Binary.Waits] returns
}

// World runs a program in a test world until the world has settled. It calls hosting to turn the program into a
// controller. seed selects the schedule; 0 is the default schedule, without faults. wrote lists the program's writes.
// hash covers all its requests and their answers.
type World func(hosting func(as host.Controller) host.Controller, seed uint64) (wrote string, hash uint64)

// pool supplies the processes for lives.
type pool interface {
	take(life int) *process     // returns a process for the life with this number in its world
	give(p *process, now int64) // takes back a process; its life ends at the time now
}

// ahead is the number of processes that are started for each life before they are needed.
const ahead = 2

// rehearsals is the number of schedules that Reuse compares and that warm runs.
const rehearsals = 6

// Reuse lets each process serve many lives, one after the other, if a used process behaves exactly like a new one. To
// test this, two processes run the same schedules in opposite order. Reuse compares the hashes of the runs, which cover
// every request and answer. First, each process runs some worlds that are not compared, for example to fill caches.
//
// If a hash differs, or if the program leaves anything behind (such as a goroutine), every life gets a new process, and
// Reuse returns the reason in one line. If world is nil, every life gets a new process, and Reuse returns "". No life
// may be running during Reuse.
func (b *Binary) Reuse(world World) (why string) {
	b.Close()
	b.world = nil
	if world == nil {
		return ""
	}
	var hashes [rehearsals]uint64
	for process := range 2 {
		one := &single{binary: b, process: b.start(0)}
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
	begun   bool   // a life of the process has begun in the current world
	goes    bool   // a life is running in the process
	why     string // why the process cannot serve another life
}

// warm runs schedules before the process is used. Then the process has done its one-time work, such as creating a
// metric at the first refused request. This work takes time, and would change the hashes of later runs. warm returns
// the program's writes in the first schedule.
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

func (s *single) take(life int) *process {
	if s.goes || s.why != "" { // another replica uses the process, or it cannot serve another life
		return s.binary.start(life)
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

// finish ends a life. It returns "", or the reason why the process cannot be used for another life.
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

func (b *Binary) take(life int) *process {
	if b.world != nil {
		life = 0 // a process serves lives with any number
	}
	b.mu.Lock()
	if n := len(b.idle); n > 0 {
		p := b.idle[n-1]
		b.idle = b.idle[:n-1]
		b.mu.Unlock()
		return p
	}
	if life >= len(b.ready) {
		b.mu.Unlock()
		return b.start(life)
	}
	if b.stop == nil {
		b.stop = make(chan struct{})
	}
	if b.ready[life] == nil {
		b.ready[life] = make(chan *process, ahead)
		b.done.Add(1)
		go b.prepare(life, b.ready[life], b.stop)
	}
	ready := b.ready[life]
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

func (b *Binary) prepare(life int, ready chan<- *process, stop <-chan struct{}) {
	defer b.done.Done()
	runtime.LockOSThread() // the kernel kills a process when the thread that started it ends
	for {
		p := b.start(life)
		if b.world != nil {
			one := &single{binary: b, process: p}
			if one.warm(b.world); one.why != "" { // the new process is not warmed; its first life reports the error
				p = b.start(life)
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

// Close kills the processes in which no life is running. The binary can be used afterwards.
func (b *Binary) Close() {
	b.mu.Lock()
	idle, ready, stop := b.idle, b.ready, b.stop
	b.idle, b.ready, b.stop = nil, [2]chan *process{}, nil
	b.mu.Unlock() // needed by a world that prepare may run; b.done waits for prepare
	for _, p := range idle {
		p.kill()
	}
	if stop == nil {
		return
	}
	close(stop)
	b.done.Wait()
	for _, prepared := range ready {
		for len(prepared) > 0 {
			(<-prepared).kill()
		}
	}
}
