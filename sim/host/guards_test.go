package host

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// A label called uid is no precondition; the uid of the object is one.
func TestGuards(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	if _, err := c.Client("user").Create(t.Context(), toyPod("web")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		patch string
		want  sim.Guards
	}{
		{`{"metadata":{"labels":{"uid":"a","resourceVersion":"1"}}}`, sim.Guards{}},
		{`{"metadata":{"labels":{"uid":"b"},"uid":"another"}}`, sim.Guards{UID: true}},
		{`{"metadata":{"resourceVersion":"1"}}`, sim.Guards{ResourceVersion: true}},
	} {
		c.As("user", &fakeapi.Request{Verb: fakeapi.Patch, Kind: c.kind(podGVK), Namespace: "default", Name: "web-1",
			PatchType: types.MergePatchType, Patch: []byte(p.patch)})
		if r := c.world.History.At(c.world.History.Len() - 1); r.Guards != p.want || r.Verb != "patch" {
			t.Errorf("%s: %+v of %s, want %+v", p.patch, r.Guards, r.Verb, p.want)
		}
	}
}
