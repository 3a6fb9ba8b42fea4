package agent

import (
	"maps"
	"slices"
)

// Waits lists what goroutines of the program still wait for after the world has settled, sorted:
// "main.sync waits for an RWMutex, at manager/main.go:57". Listed are waits that no object and no timer can end: for
// I/O, a mutex, and a channel or WaitGroup made before main began. The program's own waits for a WaitGroup or a Cond
// are listed as well, except in main itself. Such a wait may be harmless: it is no violation.
func (b *Binary) Waits() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.waits))
}

// mostWaits bounds how many waits are kept.
const mostWaits = 20

func (b *Binary) wait(waits []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range waits {
		if len(b.waits) >= mostWaits {
			return
		}
		if b.waits == nil {
			b.waits = map[string]bool{}
		}
		b.waits[w] = true
	}
}

// awaited words the states in which a goroutine can wait for something outside the bubble.
var awaited = map[string]string{
	"IO wait":             "I/O",
	"sync.Mutex.Lock":     "a mutex",
	"sync.RWMutex.Lock":   "an RWMutex",
	"sync.RWMutex.RLock":  "an RWMutex",
	"sync.WaitGroup.Wait": "a WaitGroup",
	"sync.Cond.Wait":      "a Cond",
	"chan receive":        "a channel made before main began",
	"chan send":           "a channel made before main began",
}

// waits words the waits of a dump. The goroutines with these numbers wait for something outside the bubble.
func waits(numbers []string, all []goroutine) (texts []string) {
	for _, g := range all {
		outside := slices.Contains(numbers, g.number)
		inside := (g.state == "sync.WaitGroup.Wait" || g.state == "sync.Cond.Wait") && g.own && !g.main
		if !outside && !inside || awaited[g.state] == "" {
			continue
		}
		text := g.function + " waits for " + awaited[g.state] + ", at " + g.at
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}
