package agent

import (
	"context"
	"runtime/pprof"
	"threelaws/wire"
	"unsafe"
)

// serving is the agent of the process; nil if the process is not hosted.
var serving *agent

// labels returns the goroutine's profiler labels. A goroutine inherits the labels of the goroutine that started it.
//
//go:linkname labels
func labels() unsafe.Pointer

// Begin announces that the goroutine begins to reconcile a key. Requests and reads of the goroutine, and of goroutines
// that it starts, belong to this reconcile until the returned function is called. The arguments of this function say
// whether the key will be retried with a growing delay, and after how many nanoseconds it will be reconciled again
// (0: only after an event).
func Begin(controller, key string) (end func(retried bool, again int64)) {
	a := serving
	if a == nil {
		return func(bool, int64) {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun++
	number := a.begun
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("reconcile", key)))
	mark := labels()
	a.reconciles[mark] = number
	var m wire.Message
	m.Num(wire.Begin)
	m.Num(number)
	m.Text(controller)
	m.Text(key)
	a.write(m)
	return func(retried bool, again int64) {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.reconciles, mark)
		pprof.SetGoroutineLabels(context.Background())
		var m wire.Message
		m.Num(wire.End)
		m.Num(number)
		m.Flag(retried)
		m.Num(again)
		a.write(m)
	}
}

// Object is an object that was read from a cache. The version is empty if the cache did not contain the object.
type Object struct{ Namespace, Name, Version string }

// Saw announces that the goroutine has read objects of a kind from a cache.
func Saw(group, kind string, objects ...Object) {
	a := serving
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	number := a.reconciles[labels()]
	if number == 0 {
		return
	}
	var m wire.Message
	m.Num(wire.Saw)
	m.Num(number)
	m.Text(group)
	m.Text(kind)
	m.Num(int64(len(objects)))
	for _, o := range objects {
		m.Text(o.Namespace)
		m.Text(o.Name)
		m.Text(o.Version)
	}
	a.write(m)
}
