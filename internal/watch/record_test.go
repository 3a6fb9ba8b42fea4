package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A record reads back as JSON lines, with merge patches of the differences.
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

// The first failed write gives the error, and later lines are dropped.
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
