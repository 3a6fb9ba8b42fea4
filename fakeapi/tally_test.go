package fakeapi

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// A server that is told to forget keeps nothing of the names that are gone, and gives
// none of their uids a second time.
func TestForgetNames(t *testing.T) {
	s := New(Options{})
	seen := map[types.UID]bool{}
	once := func(name string) {
		p := makePod(t, s, name)
		if seen[p.UID] {
			t.Fatalf("%s comes with the uid %s a second time", name, p.UID)
		}
		seen[p.UID] = true
		mustDo(t, s, &Request{Verb: Delete, Kind: podKind, Namespace: "default", Name: p.Name})
	}
	for round := range 4 {
		for range round + 1 {
			once("again")
		}
		for i := range 10 {
			once(fmt.Sprintf("once-%d-%d", round, i))
		}
		made := pod("")
		made.GenerateName = "made-"
		p := mustDo(t, s, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: made}).Object
		if want := fmt.Sprintf("made-%d", round+1); p.(interface{ GetName() string }).GetName() != want {
			t.Errorf("generated %v, want %s", p, want)
		}
		if got := s.tables[podKind.ordinal].past.Len(); got != 11 {
			t.Errorf("%d names remembered before they are forgotten, want 11", got)
		}
		s.ForgetNames(s.Version())
		if table := s.tables[podKind.ordinal]; table.past.Len() != 0 || table.made.Len() != 0 {
			t.Errorf("%d names and %d prefixes are kept", table.past.Len(), table.made.Len())
		}
	}
}
