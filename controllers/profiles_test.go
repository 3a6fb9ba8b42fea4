package controllers_test

import (
	"testing"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// All laws apply to the newest era of every controller. EndpointSlices are known by a label and not claimed, so only
// the laws of writing apply to their controller.
func TestNewestOweAllLaws(t *testing.T) {
	newest := map[string]host.Controller{}
	for _, c := range controllers.Builtin() {
		newest[c.Name] = c
	}
	for name, c := range newest {
		want := law.Upstream
		if name == "endpointslice" {
			want = law.Writing
		}
		if c.Contract.Profile != want {
			t.Errorf("%s is held to %v", name, c.Contract.Profile)
		}
	}
}
