package agent

import (
	"runtime"
	"sync"
)

// Binary is a program that was built with the overlay.
type Binary struct {
	Path string
	Name string   // of the operator; its pod is named after it
	Args []string // of its main
	Env  []string // "NAME=value", beside what every process gets

	Namespace   string // of its service account; "" is default
	WorkingDir  string // of the image; "" is /
	Repository  string // a folder in which it may read files by relative paths; "" for none
	Projections []Projection
	Ports       map[string]int64 // its ports by name, as Services of webhooks name them

	mu    sync.Mutex
	ready chan *process // started ahead
	stop  chan struct{}
	done  sync.WaitGroup
	waits map[string]bool // that were seen
}

// ahead is how many processes are started before anybody needs them.
const ahead = 2

// take returns a process that has begun no life.
func (b *Binary) take() *process {
	b.mu.Lock()
	if b.ready == nil {
		b.ready, b.stop = make(chan *process, ahead), make(chan struct{})
		b.done.Add(1)
		go b.fill(b.ready, b.stop)
	}
	ready := b.ready
	b.mu.Unlock()
	return <-ready
}

// fill starts processes ahead, until it is stopped.
func (b *Binary) fill(ready chan<- *process, stop <-chan struct{}) {
	defer b.done.Done()
	runtime.LockOSThread() // a process ends with the thread that started it
	for {
		p := b.start()
		select {
		case ready <- p:
		case <-stop:
			p.kill()
			return
		}
	}
}

// Close kills the processes that were started ahead. The binary may be used again.
func (b *Binary) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready == nil {
		return
	}
	close(b.stop)
	b.done.Wait()
	for len(b.ready) > 0 {
		(<-b.ready).kill()
	}
	b.ready = nil
}
