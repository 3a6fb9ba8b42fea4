// Package steptimeout ends a Go process in which one step of a world does not end. Then a controller waits forever, or
// runs without an API call, and the goroutine that would judge it waits too. The watchdog uses real time and decides
// nothing in a world.
package steptimeout

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/internal/goroutine"
)

// Dog watches the steps of one world.
type Dog struct {
	steps atomic.Uint64
	over  atomic.Bool
	timer *time.Timer
	seen  uint64
	idle  int
}

// A step may take this many ticks in a row: a process that was stopped, or whose machine slept, sees only one. Hosted
// programs are reported after thirty seconds, in more detail.
const patience = 45

var (
	tick = time.Second
	bark = func(text string) { panic(text) }
)

// Watch starts a watchdog. asking returns the invariant being checked, or "". Any goroutine may call it.
func Watch(asking func() string) *Dog {
	d, each, began := &Dog{}, tick, make(chan struct{})
	d.timer = time.AfterFunc(each, func() {
		<-began
		if n := d.steps.Load(); n != d.seen {
			d.seen, d.idle = n, 0
		} else if d.idle++; d.idle == patience && !d.over.Load() {
			bark(hangs(patience*each, asking()))
		}
		if !d.over.Load() {
			d.timer.Reset(each)
		}
	})
	close(began)
	return d
}

// Step records that a step has ended.
func (d *Dog) Step() { d.steps.Add(1) }

// End ends the watch.
func (d *Dog) End() {
	d.over.Store(true)
	d.timer.Stop()
}

// The first line of a goroutine's stack: its state. A goroutine in a coroutine switch waits for its turn.
var (
	head  = regexp.MustCompile(`^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\],]*)`)
	frame = regexp.MustCompile(`(?m)^(\S[^\n]*)\(.*\n\t(\S+):(\d+)`)
)

// hangs describes what the running controllers do.
func hangs(after time.Duration, invariant string) string {
	text := make([]byte, 1<<22)
	text = text[:runtime.Stack(text, true)]
	var at []string
	for g := range strings.SplitSeq(string(text), "\n\n") {
		m := head.FindStringSubmatch(g)
		if invariant != "" && strings.Contains(g, "/sim/law.(*Judge).evaluate(") {
			return fmt.Sprintf("a step has not ended after %v: the Check of invariant %s does not return:\n\n%s", after,
				invariant, strings.TrimSpace(g))
		}
		if m == nil || m[1] == "coroutine" || !strings.Contains(g, "/sim/host.(*worker).syncOnce(") {
			continue
		}
		line := ""
		for _, f := range frame.FindAllStringSubmatch(g, -1) {
			if !goroutine.Within(f[1]) {
				line = " at " + f[2] + ":" + f[3]
				break
			}
		}
		at = append(at, fmt.Sprintf("a sync is in %s%s:\n%s", m[1], line, strings.TrimSpace(g)))
	}
	if len(at) == 0 {
		at = append(at, string(text))
	}
	return fmt.Sprintf("a step has not ended after %v: a controller waits for ever, or goes on without an API "+
		"call:\n\n%s", after, strings.Join(at, "\n\n"))
}
