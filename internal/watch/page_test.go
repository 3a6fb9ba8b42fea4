package watch

import (
	"strings"
	"testing"
)

// Text from a cluster cannot forge a finding or control the terminal.
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
