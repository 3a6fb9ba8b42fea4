package endpointslice

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

var update = flag.Bool("update", false, "rewrite testdata/plans.txt")

// TestPlans plans full, nearly full and empty slices for endpoints that stay, go and come. In every plan each endpoint
// is in one slice, no slice is too full, and what fits into one is in one. The test pins which slices are written.
func TestPlans(t *testing.T) {
	var got strings.Builder
	for seed := range uint64(150) {
		d := sim.NewSeed(seed)
		g, before := &group{wanted: map[string]discoveryv1.Endpoint{}}, ""
		want := func(n int) {
			e := endpoint(n)
			g.wanted[identity(&e)] = e
		}
		next := 0
		for i := range d.Pick(4, "") {
			s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}}
			if d.Pick(6, "") == 0 {
				s.Labels = map[string]string{"a": "b"}
			}
			gone := d.Pick(4, "")
			for range []int{0, 1, 40, 60, 60, 98, 99, 100}[d.Pick(8, "")] {
				if s.Endpoints = append(s.Endpoints, endpoint(next)); gone == 0 || d.Pick(30*gone, "") > 0 {
					want(next)
				}
				next++
			}
			before += fmt.Sprintf(" %d", len(s.Endpoints))
			g.slices = append(g.slices, s)
		}
		for range []int{0, 0, 1, 2, 40, 99, 100, 101, 140, 200}[d.Pick(10, "")] {
			want(next)
			next++
		}
		var p plan
		slices := append([]*discoveryv1.EndpointSlice(nil), g.slices...)
		g.plan(&p, &discoveryv1.EndpointSlice{})
		fmt.Fprintf(&got, "%d wanted, in%s: create%s, update%s, remove%s\n", len(g.wanted), before, told(p.create),
			told(p.update), told(p.remove))
		checkPlan(t, seed, g, &p, slices)
	}
	const golden = "testdata/plans.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if pinned, err := os.ReadFile(golden); err != nil || string(pinned) != got.String() {
		t.Errorf("the plans are others than in %s (%v):\n%s", golden, err, got.String())
	}
}

func endpoint(n int) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.0.%d.%d", n/250, n%250)}}
}

// told formats slices by name and number of endpoints.
func told(list []*discoveryv1.EndpointSlice) (out string) {
	for _, s := range list {
		out += fmt.Sprintf(" %s(%d)", s.Name, len(s.Endpoints))
	}
	return out
}

func checkPlan(t *testing.T, seed uint64, g *group, p *plan, before []*discoveryv1.EndpointSlice) {
	after := map[string]*discoveryv1.EndpointSlice{}
	for _, s := range before {
		after[s.Name] = s
	}
	for _, s := range p.remove {
		delete(after, s.Name)
	}
	for _, s := range p.update {
		after[s.Name] = s
	}
	for i, s := range p.create {
		after[fmt.Sprint("new", i)] = s
	}
	in := map[string]int{}
	for name, s := range after {
		if len(s.Endpoints) > capacity {
			t.Errorf("seed %d: %d endpoints in %s", seed, len(s.Endpoints), name)
		}
		for i := range s.Endpoints {
			in[identity(&s.Endpoints[i])]++
		}
	}
	for id := range g.wanted {
		if in[id] != 1 {
			t.Errorf("seed %d: %s is in %d slices", seed, id, in[id])
		}
		delete(in, id)
	}
	if len(in) > 0 {
		t.Errorf("seed %d: %v are not wanted", seed, in)
	}
	if n := len(g.wanted); n <= capacity && n > 0 && len(after) != 1 {
		t.Errorf("seed %d: %d endpoints in %d slices", seed, n, len(after))
	}
}
