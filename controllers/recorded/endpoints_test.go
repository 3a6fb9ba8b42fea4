package recorded_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/sim"
)

// orderEndpoints puts the endpoints of a slice into one order. Upstream takes those that
// are added at once from a map, so that the record has them in any.
func orderEndpoints(item any) {
	o, _ := item.(map[string]any)
	endpoints, _ := o["endpoints"].([]any)
	slices.SortFunc(endpoints, func(a, b any) int { return cmp.Compare(addressesOf(a), addressesOf(b)) })
}

// sway takes out of a listing what depends on the schedule upstream, too: how often a
// slice was written, and the time of which change it tells. Of several Pods that are there
// before their Service a controller may have seen some when it makes the slice, or all.
func (l *listing) sway() {
	for _, item := range slices.Concat(l.items, l.ours) {
		o, _ := item.(map[string]any)
		if _, slice := o["endpoints"]; !slice {
			continue
		}
		if m, ok := o["metadata"].(map[string]any); ok {
			delete(m, "generation")
			delete(m, "annotations")
		}
	}
}

// severalEndpoints: a case has a slice with more than one endpoint.
func severalEndpoints(c *recorded.Case) bool {
	return slices.ContainsFunc(c.Exchanges, func(ex recorded.Exchange) bool {
		if !ex.Settled {
			return false
		}
		body, err := recorded.Decode(ex.Response.Body)
		if err != nil {
			return false
		}
		list, _ := body.(map[string]any)
		items, _ := list["items"].([]any)
		return slices.ContainsFunc(items, func(item any) bool {
			o, _ := item.(map[string]any)
			endpoints, _ := o["endpoints"].([]any)
			return len(endpoints) > 1
		})
	})
}

func addressesOf(endpoint any) string {
	e, _ := endpoint.(map[string]any)
	text, err := json.Marshal(e["addresses"])
	if err != nil {
		panic("a decoded value does not encode: " + err.Error())
	}
	return string(text)
}

func TestEndpointsInAnyOrder(t *testing.T) {
	list := func(endpoints string) any {
		v, err := recorded.Decode([]byte(`{"items":[{"metadata":{"name":"s"},"endpoints":` + endpoints + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := `[{"addresses":["10.0.0.2"],"zone":"a"},{"addresses":["10.0.0.1"]}]`
	for got, same := range map[string]bool{
		want: true,
		`[{"addresses":["10.0.0.1"]},{"addresses":["10.0.0.2"],"zone":"a"}]`: true,
		`[{"addresses":["10.0.0.1"],"zone":"a"},{"addresses":["10.0.0.2"]}]`: false,
		`[{"addresses":["10.0.0.1"]}]`:                                       false,
	} {
		l, err := newListing(&recorded.Exchange{}, list(want), list(got))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := name(recorded.NewBinding(), []*listing{l}); (err == nil) != same {
			t.Errorf("%s for %s: %v", got, want, err)
		}
	}
}

// twoEndpoints is a case whose two Pods are there before their Service, as upstream
// records it where everything is seen in time.
func twoEndpoints(t *testing.T) *recorded.Case {
	t.Helper()
	c := &recorded.Case{Controllers: []string{"endpointslice"}}
	add := func(method, path, body string, status int, answer string) {
		ex := recorded.Exchange{N: len(c.Exchanges) + 1, Method: method, Path: path, Settled: method == "GET",
			Body: json.RawMessage(body), Headers: map[string]string{"content-type": "application/merge-patch+json"}}
		if method == "POST" {
			ex.Headers = map[string]string{"content-type": "application/json"}
		}
		ex.Response.Status, ex.Response.Body = status, json.RawMessage(answer)
		c.Exchanges = append(c.Exchanges, ex)
	}
	add("POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`, 201, "")
	for pod, ip := range []string{"10.0.0.1", "10.0.0.2"} {
		name := string(rune('a' + pod))
		add("POST", "/api/v1/namespaces/$ns/pods", `{"metadata":{"name":"`+name+`","labels":{"app":"x"}},`+
			`"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`, 201, "")
		add("PATCH", "/api/v1/namespaces/$ns/pods/"+name+"/status", `{"status":{"podIP":"`+ip+`"}}`, 200, "")
	}
	add("POST", "/api/v1/namespaces/$ns/services", `{"metadata":{"name":"s"},"spec":{"selector":{"app":"x"},`+
		`"ports":[{"port":80}]}}`, 201, "")
	endpoint := func(ip, pod, uid string) string {
		return `{"addresses":["` + ip + `"],"conditions":{"ready":false,"serving":false,"terminating":false},` +
			`"nodeName":"n","targetRef":{"kind":"Pod","name":"` + pod + `","namespace":"$ns","uid":"$uid:` + uid + `"}}`
	}
	add("GET", "/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices", "", 200,
		`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSliceList","metadata":{},"items":[{"addressType":"IPv4",`+
			`"endpoints":[`+endpoint("10.0.0.2", "b", "2")+`,`+endpoint("10.0.0.1", "a", "1")+`],"metadata":{`+
			`"annotations":{"endpoints.kubernetes.io/last-change-trigger-time":"$time"},"creationTimestamp":"$time",`+
			`"generateName":"s-","generation":1,"labels":{"kubernetes.io/service-name":"s",`+
			`"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"},"name":"s-$gen:1",`+
			`"namespace":"$ns","ownerReferences":[{"apiVersion":"v1","blockOwnerDeletion":true,"controller":true,`+
			`"kind":"Service","name":"s","uid":"$uid:3"}],"resourceVersion":"$rv:1","uid":"$uid:4"},`+
			`"ports":[{"name":"","port":80,"protocol":"TCP"}]}]}`)
	return c
}

// TestSway: such a case does not pass under every schedule, but for what is swayed.
func TestSway(t *testing.T) {
	c := twoEndpoints(t)
	if err := play(c, sim.Zero{}, patient); err != nil {
		t.Error(err)
	}
	differs := 0
	for seed := range uint64(50) {
		if play(c, sim.NewSeed(seed), somewhat(20)) != nil {
			differs++
		}
		if err := (&player{swayed: true}).play(c, sim.NewSeed(seed), somewhat(20)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if differs == 0 {
		t.Error("nothing is swayed")
	}
}
