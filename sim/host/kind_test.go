package host

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// What the kernel calls a kind in every line of a page, the server takes for it: who
// reads "rs/web" can type it.
func TestShortNamesAreTaken(t *testing.T) {
	s := fakeapi.New(fakeapi.Options{})
	n := 0
	for _, k := range s.Served() {
		short := sim.Short(k.GVK.Kind)
		if got := s.KindNamed(short); got == nil || got.GVK.Kind != k.GVK.Kind {
			t.Errorf("%s is called %s, which the server takes for %v", k.GVK.Kind, short, got)
		}
		n++
	}
	if n < 20 {
		t.Errorf("the server serves %d kinds", n)
	}
}
