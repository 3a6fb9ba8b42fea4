// Package steptimeout ends a Go process in which a step of a world does not end. This happens if a controller blocks
// forever, or loops without an API call. The goroutine that judges the world then waits for the step. The watchdog
// measures real time, and has no influence on worlds.
package steptimeout

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/internal/goroutine"
)

// Dog is a watchdog for the steps of one world.
type Dog struct {
	asking func() string
	steps  atomic.Uint64
	over   atomic.Bool
	timer  *time.Timer
	seen   uint64
	idle   int
}

// patience is the number of ticks (seconds) in which a step must end. While the process is stopped or the machine is
// suspended, at most one tick passes. Hosted programs get a more detailed report earlier, after thirty seconds.
const patience = 45

var (
	tick = time.Second
	bark = func(text string) {
		if !strings.Contains(text, "\n") {
			fmt.Fprintln(os.Stderr, text)
			os.Exit(1)
		}
		panic(text)
	}
)

// Watch starts a watchdog. asking returns the invariant that is being evaluated, or "". The watchdog may call it on any
// goroutine.
func Watch(asking func() string) *Dog {
	d, each, began := &Dog{asking: asking}, tick, make(chan struct{})
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

// End stops the watchdog. If an invariant is still being evaluated, End reports that its Check ended the goroutine.
func (d *Dog) End() {
	d.over.Store(true)
	d.timer.Stop()
	if invariant := d.asking(); invariant != "" {
		bark("invariant " + invariant + ": its Check ends the goroutine, as t.FailNow does: return what is wrong instead")
	}
}

// head matches the first line of a goroutine's stack; the group is its state. frame matches a function and its line.
var (
	head  = regexp.MustCompile(`^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\],]*)`)
	frame = regexp.MustCompile(`(?m)^(\S[^\n]*)\(.*\n\t(\S+):(\d+)`)
)

// hangs returns the report: one line about the invariant, or the stacks of the running controllers, or all stacks.
func hangs(after time.Duration, invariant string) string {
	text := make([]byte, 1<<22)
	text = text[:runtime.Stack(text, true)]
	var at []string
	for g := range strings.SplitSeq(string(text), "\n\n") {
		m := head.FindStringSubmatch(g)
		if above, _, ok := strings.Cut(g, "/sim/law.(*Judge)."); ok && invariant != "" {
			at := ""
			for _, f := range frame.FindAllStringSubmatch(above, -1) { // the last function is the Check itself
				at = ": it is at " + f[2] + ":" + f[3]
			}
			return fmt.Sprintf("invariant %s: its Check has not returned after %v%s", invariant, after, at)
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
