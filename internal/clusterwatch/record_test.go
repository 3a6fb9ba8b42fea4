package clusterwatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/lru"
)

// A record consists of JSON lines, with merge patches of the changes.
func TestRecord(t *testing.T) {
	var b strings.Builder
	w := newWorld(t)
	w.cl.Record = &Record{To: &b}
	w.create("a", shared)
	w.write("b", "ConfigMap/shared", "data.mode=two")
	w.delete("ConfigMap/shared")
	var got []string
	for line := range strings.Lines(b.String()) {
		var e auditEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		body, _ := json.Marshal(e.RequestObject)
		if e.Verb == "create" {
			body = nil
		}
		got = append(got, fmt.Sprintf("%s by %s %s", e.Verb, e.User.Username, body))
	}
	want := []string{"create by a ", `patch by b {"data":{"mode":"two"}}`, "delete by (unknown) null"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// If writes of the record fail, Err contains the first error.
func TestRecordOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	w.cl.Record = &Record{To: fullDisk{}}
	w.create("a", shared)
	w.write("b", "ConfigMap/shared", "data.mode=two")
	if err := w.cl.Record.Err; err == nil || err.Error() != "no space left" {
		t.Errorf("got %q", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// live returns the number of bytes in use on the heap.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Memory use does not grow while objects are created and deleted.
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
	churn(1000) // fills the caches
	before := live()
	churn(5000)
	if grown := live() - before; grown > 1<<18 {
		t.Errorf("the heap has grown by %d bytes in 15,000 events", grown)
	}
	runtime.KeepAlive(w)
}

// Text from a cluster cannot control the terminal, and cannot imitate a finding.
func TestPageIsPlain(t *testing.T) {
	f := Finding{Sort: Fight, Object: "t/cm/a", Text: "a\x1b[31m", Story: []Line{{Who: "b\u202e", Did: "write",
		Change: "data.mode = x\n--- fight: é"}, {Who: "b", Did: "data.mode = \x1b[31m\n--- fight: a"}}}
	got := f.Page(100)
	if strings.Count(got, "\n---") != 0 || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(got, `data.mode = x\n--- fight: é`) {
		t.Errorf("got %s", got)
	}
}
