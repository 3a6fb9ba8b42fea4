package watch

import (
	"runtime"
	"strconv"
	"testing"

	"k8s.io/utils/lru"
)

// live returns the bytes in use on the heap.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Memory stays constant over time, whatever is created and deleted.
func TestMemoryIsFlat(t *testing.T) {
	w := newWorld(t, web)
	w.cl.Tell = func(Finding) {}
	churn := func(n int) {
		for i := range n {
			name := strconv.Itoa(i)
			w.create("op", "ConfigMap t/c"+name+` {"data":{"mode":"`+name+`"}}`)
			w.write("b", "ConfigMap/c"+name, "data.mode=x")
			w.delete("ConfigMap/c" + name)
			w.found = nil
		}
	}
	w.cl.fights.tracks, w.cl.gone = lru.New(500), lru.New(500)
	churn(1000) // the indexes are full
	before := live()
	churn(5000)
	if grown := live() - before; grown > 1<<18 {
		t.Errorf("it has grown by %d bytes in 15,000 events", grown)
	}
	runtime.KeepAlive(w)
}
