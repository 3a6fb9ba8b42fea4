package recorded_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/sim"
)

// listing is one settled listing: as recorded, and ours.
type listing struct {
	n         int // of the exchange
	path      string
	want, got map[string]any
	items     []any // of want
	ours      []any // of got
}

// newListing takes the items apart from the rest. The revision of a listing
// counts everybody's writes, leases included: it is not compared.
func newListing(ex *recorded.Exchange, want, got any) (*listing, error) {
	w, ok := want.(map[string]any)
	g, fine := got.(map[string]any)
	if !ok || !fine {
		return nil, fmt.Errorf("%d: no objects: %v, want %v", ex.N, got, want)
	}
	l := &listing{n: ex.N, path: ex.Path, want: w, got: g}
	l.items, _ = w["items"].([]any)
	l.ours, _ = g["items"].([]any)
	for _, item := range slices.Concat(l.items, l.ours) {
		orderEndpoints(item)
	}
	for _, o := range [...]map[string]any{w, g} {
		if _, ok := o["items"]; ok {
			delete(o, "items")
			delete(o, "metadata")
		}
	}
	return l, nil
}

// search looks for one naming of the record's placeholders under which every listing is what was recorded. Which of
// several like objects was written first, or deleted, is not determined, so items are tried against each other.
type search struct {
	listings []*listing
	present  map[string]string // objects of either side, by uid -> the listings they are in
	tries    int
}

// newSearch notes who is in which listings: two objects are one only if those agree.
func newSearch(listings []*listing) *search {
	s := &search{listings: listings, present: map[string]string{}}
	for i, l := range listings {
		for _, items := range [...][]any{l.items, l.ours} {
			for _, item := range items {
				s.present[uidOf(item)] += strconv.Itoa(i) + " "
			}
		}
	}
	return s
}

const maxTries = 200_000

var errTries = errors.New("no naming found: given up")

// name returns a binding that knows what b knows and names the listings.
func name(b *recorded.Binding, listings []*listing) (*recorded.Binding, error) {
	found, err := newSearch(listings).listing(b, 0)
	if err == nil {
		return found, nil
	}
	last := listings[len(listings)-1]
	if _, alone := newSearch([]*listing{last}).listing(b, 0); alone != nil { // says more clearly what differs
		return nil, fmt.Errorf("%d: %s: %w", last.n, last.path, alone)
	}
	return nil, fmt.Errorf("%d: %s, with the listings before: %w", last.n, last.path, err)
}

func (s *search) listing(b *recorded.Binding, i int) (*recorded.Binding, error) {
	if i == len(s.listings) {
		return b, nil
	}
	l := s.listings[i]
	b = b.Clone()
	if err := b.Compare(l.want, l.got); err != nil {
		return nil, err
	}
	if len(l.items) != len(l.ours) {
		return nil, fmt.Errorf("%d items, want %d: %v, want %v", len(l.ours), len(l.items), names(l.ours),
			names(l.items))
	}
	return s.item(b, i, 0, make([]bool, len(l.ours)))
}

// item finds one of ours that the j-th recorded item may be, and goes on.
func (s *search) item(b *recorded.Binding, i, j int, used []bool) (*recorded.Binding, error) {
	l := s.listings[i]
	if j == len(l.items) {
		return s.listing(b, i+1)
	}
	why := fmt.Errorf("no object is where %s is", nameOf(l.items[j]))
	first := true
	for k := range l.ours {
		if used[k] || s.present[uidOf(l.items[j])] != s.present[uidOf(l.ours[k])] {
			continue
		}
		if s.tries++; s.tries > maxTries {
			return nil, errTries
		}
		c := b.Clone()
		err := c.Compare(l.items[j], l.ours[k])
		if err != nil {
			err = fmt.Errorf("%s is not %s: %w", nameOf(l.ours[k]), nameOf(l.items[j]), err)
		} else {
			used[k] = true
			var found *recorded.Binding
			if found, err = s.item(c, i, j+1, used); err == nil {
				return found, nil
			}
			used[k] = false
		}
		if first || nameOf(l.ours[k]) == nameOf(l.items[j]) {
			why, first = err, false
		}
	}
	return nil, why
}

func names(items []any) (out []string) {
	for _, item := range items {
		out = append(out, nameOf(item))
	}
	return out
}

func nameOf(item any) string { return metadataOf(item, "name") }

func uidOf(item any) string { return metadataOf(item, "uid") }

func metadataOf(item any, field string) string {
	o, _ := item.(map[string]any)
	m, _ := o["metadata"].(map[string]any)
	text, _ := m[field].(string)
	return text
}

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
