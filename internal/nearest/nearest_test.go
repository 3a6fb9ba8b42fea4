package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	for _, c := range []struct {
		word  string
		valid []string
		want  string
	}{
		{"setle", []string{"step", "settle", "scale"}, "settle"},
		{"replya", []string{"run", "replay"}, "replay"},
		{"wdgt", []string{"Pod", "Widget"}, "Widget"},
		{"replicatset", []string{"replication", "replicaset"}, "replicaset"},
		{"never-figth", []string{"never-fight", "never-steal"}, "never-fight"},
		{"Pdo", []string{"PVC", "Pod"}, "Pod"},
		{"contrlref", []string{"selector", "gated-without-gc", "controllerref"}, "controllerref"},
		{"exh", []string{"random", "exhaustive"}, "exhaustive"},
		{"nothere.txtar", []string{"13-huge.txtar"}, ""},
		{"--version", []string{"--json", "--help"}, ""},
		{"xy", []string{"rs", "rc"}, ""},
		{"svg", []string{"dot", "tree", "json"}, ""},
	} {
		if got := Word(c.word, c.valid); got != c.want {
			t.Errorf("%s among %v: %q, want %q", c.word, c.valid, got, c.want)
		}
	}
}

// A text that is much longer than any word is not compared, because a client may send megabytes to a server.
func TestWordIsNoText(t *testing.T) {
	text := strings.Repeat("a", 1<<20)
	var got string
	if n := testing.AllocsPerRun(1, func() { got = Word(text, []string{"Pod", "Node"}) }); n > 10 || got != "" {
		t.Errorf("%q after %.0f allocations", got, n)
	}
}
