package recorded_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/vectors"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var ours = map[string]string{
	"cronjob":                          "cronjob@current",
	"disruption":                       "disruption",
	"endpointslice":                    "endpointslice",
	"garbage-collector":                "garbagecollector",
	"job":                              "job@current",
	"namespace":                        "namespace",
	"replicaset":                       "replicaset@current",
	"replicationcontroller":            "replication@current",
	"resourcequota":                    "resourcequota",
	"ttl-after-finished":               "ttl-after-finished",
	"persistentvolumeclaim-protection": "persistentvolumeclaim-protection",
	"statefulset":                      "statefulset@current",
	"deployment":                       "deployment@current",
	"pod-garbage-collector":            "podgc",
	"daemonset":                        "daemonset@current",
}

// recordedOn is a possible day of the recordings. The last missed time of a CronJob depends on this day.
var recordedOn = time.Date(2026, time.October, 1, 0, 0, 0, 0, time.UTC)

// pace runs the controllers between two requests of the user. The recording does not contain how long its user waited.
type pace func(p *player) error

func patient(p *player) error { return p.settle() }
func hasty(*player) error     { return nil }

// somewhat returns a pace of up to n steps. The choices select the number of steps.
func somewhat(n int) pace {
	return func(p *player) error {
		for range p.cluster.World().Pick(n+1, "pace") {
			if p.idle() {
				break
			}
			p.step()
		}
		return nil
	}
}

type player struct {
	cluster  *host.Cluster
	handler  *httpapi.Handler
	known    *vectors.Binding
	listings []*listing
	watched  uint64 // the server's version at the last settled listing
}

// play replays a case as it was recorded, and returns the first difference.
func play(c *vectors.Recording, choices sim.Choices, between pace) error {
	return (&player{}).play(c, choices, between)
}

func (p *player) play(c *vectors.Recording, choices sim.Choices, between pace) error {
	server := fakeapi.New(fakeapi.Options{})
	p.cluster, p.known = host.NewCluster(sim.New(choices), server), vectors.NewBinding()
	defer p.cluster.Stop()
	p.cluster.World().Clock.Advance(recordedOn.Sub(sim.Epoch))
	p.handler = httpapi.New(server, p.cluster.World().Clock.Now)
	p.handler.Execute = func(req *fakeapi.Request) fakeapi.Response { return p.cluster.As("user", req) }
	for _, name := range collectorLast(c.Controllers) {
		if faulty, ok := faults[c.Name()]; ok && faulty.Name == name {
			p.cluster.Start(name, faulty)
			continue
		}
		p.start(ours[name])
	}
	p.known.Bind("$ns", "ns-1")
	if code, body := p.send("POST", "/api/v1/namespaces", "", map[string]string{"content-type": "application/json"},
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns-1"}}`); code != 201 {
		return fmt.Errorf("namespace: %d %s", code, body)
	}
	if err := p.settle(); err != nil {
		return err
	}
	for i := range c.Exchanges {
		if err := p.exchange(&c.Exchanges[i], between); err != nil {
			return err
		}
	}
	return nil
}

// collectorLast moves the garbage collector to the end of names. If several controllers have work, the first one runs.
// The other controllers act at once on their cached state, but the garbage collector reads from the server twice
// before it deletes an object.
func collectorLast(names []string) []string {
	const collector = "garbage-collector"
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == collector })
	if len(others) < len(names) {
		others = append(others, collector)
	}
	return others
}

func (p *player) start(name string) {
	for _, c := range controllers.Builtin() {
		if c.FullName() == name {
			p.cluster.Start(c.Name, c)
		}
	}
}

// exchange replays one exchange of the recording. It skips watches, because another order would also be right.
func (p *player) exchange(ex *vectors.Exchange, between pace) error {
	err := p.pause(ex)
	switch {
	case err != nil:
	case ex.Watch != nil:
	case ex.Aside != "":
		if err = p.settle(); err == nil {
			err = p.aside(ex.Aside)
		}
	case ex.Settled:
		err = p.settled(ex)
	case ex.Method == "GET":
		err = p.poll(ex)
	default:
		if err = between(p); err == nil {
			err = p.write(ex)
		}
	}
	if err != nil {
		return fmt.Errorf("%d: %w", ex.N, err)
	}
	return nil
}

// request sends the request of an exchange. It first looks up unknown placeholders in the earlier listings.
func (p *player) request(ex *vectors.Exchange) (int, string, error) {
	raw, err := json.Marshal(ex.Query)
	if err != nil {
		return 0, "", err
	}
	for _, name := range vectors.Placeholders(ex.Path + string(raw) + string(ex.Body)) {
		if _, known := p.known.Value(name); known || len(p.listings) == 0 {
			continue
		}
		b, err := p.name()
		if err != nil {
			return 0, "", err
		}
		if v, ok := b.Value(name); ok {
			p.known.Bind(name, v)
		}
	}
	query := url.Values{}
	for k, v := range ex.Query {
		query.Set(k, p.known.Fill(fmt.Sprint(v)))
	}
	code, body := p.send(ex.Method, p.known.Fill(ex.Path), query.Encode(), ex.Headers, p.known.Fill(string(ex.Body)))
	return code, body, nil
}

func (p *player) send(method, path, query string, headers map[string]string, body string) (int, string) {
	u := url.URL{Path: path, RawQuery: query}
	r := httptest.NewRequest(method, u.String(), strings.NewReader(body))
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (p *player) write(ex *vectors.Exchange) error {
	code, body, err := p.request(ex)
	if err != nil {
		return err
	}
	if code != ex.Response.Status && ex.ConcurrentGroup == 0 {
		return fmt.Errorf("%s %s: status %d, want %d: %s", ex.Method, ex.Path, code, ex.Response.Status, body)
	}
	p.known.Learn(ex.Response.Body, []byte(body))
	return nil
}

// settled lets the controllers settle, and compares a listing.
func (p *player) settled(ex *vectors.Exchange) error {
	if err := p.settle(); err != nil {
		return err
	}
	if v := p.cluster.Server().Version(); v != p.watched { // the recording client had seen no write for this time
		p.watched = v
		p.cluster.World().Clock.Advance(rest)
	}
	code, body, err := p.request(ex)
	if err != nil {
		return err
	}
	if code != ex.Response.Status {
		return fmt.Errorf("%s: status %d, want %d: %s", ex.Path, code, ex.Response.Status, body)
	}
	want, err := vectors.Decode(ex.Response.Body)
	if err != nil {
		return err
	}
	got, err := vectors.Decode([]byte(body))
	if err != nil {
		return err
	}
	vectors.DropManaged(got)
	l, err := newListing(ex, want, got)
	if err != nil {
		return err
	}
	p.listings = append(p.listings, l)
	_, err = p.name()
	return err
}

func (p *player) name() (*vectors.Binding, error) { return name(p.known, p.listings) }

// poll repeats a read until its response is the recorded one.
func (p *player) poll(ex *vectors.Exchange) error {
	for steps := 0; ; steps++ {
		code, body, err := p.request(ex)
		if err != nil {
			return err
		}
		err = fmt.Errorf("%s: status %d, want %d: %s", ex.Path, code, ex.Response.Status, body)
		if code == ex.Response.Status {
			b := p.known.Clone()
			if err = b.CompareJSON(ex.Response.Body, []byte(body)); err == nil {
				p.known.Take(b)
				return nil
			}
		}
		if steps == maxSteps || !p.step() {
			return fmt.Errorf("the answer is never the recorded one: %w", err)
		}
	}
}

const (
	// rest is the time without writes after which the controllers count as settled. Some controllers retry forever. The
	// recorded listings were taken after this time.
	rest     = 1200 * time.Millisecond
	maxSteps = 100_000
)

// pause advances the clock by the time that the recording client waited before this exchange.
func (p *player) pause(ex *vectors.Exchange) error {
	if ex.Pause == 0 {
		return nil
	}
	w := p.cluster.World()
	until := w.Clock.Elapsed() + time.Duration(ex.Pause*float64(time.Second))
	for range maxSteps {
		next := w.Enabled()
		if len(next) == 0 || next[0].Class == sim.Timer && w.Clock.Pending()[0].At > until {
			w.Clock.Advance(until - w.Clock.Elapsed())
			return nil
		}
		w.Clock.Horizon = until
		w.Step()
	}
	return errUnsettled
}

// step takes one step. In the recording no long time passed while a controller had work. So the clock must not jump by
// minutes here, for example to a deadline.
func (p *player) step() bool {
	w := p.cluster.World()
	w.Clock.Horizon = w.Clock.Elapsed() + rest
	return w.Step()
}

func (p *player) idle() bool {
	w := p.cluster.World()
	next := w.Enabled()
	return len(next) == 0 || next[0].Class == sim.Timer && w.Clock.Pending()[0].At > w.Clock.Elapsed()+rest
}

func (p *player) settle() error {
	w, s := p.cluster.World(), p.cluster.Server()
	version, since := s.Version(), w.Clock.Elapsed()
	seen := w.History.Len()
	for range maxSteps {
		if v := s.Version(); v != version || p.delivered(seen) {
			version, since = v, w.Clock.Elapsed()
		}
		seen = w.History.Len()
		next := w.Enabled()
		if len(next) == 0 || next[0].Class == sim.Timer && w.Clock.Pending()[0].At > since+rest {
			return nil
		}
		p.step()
	}
	return errUnsettled
}

// delivered reports whether the history has a delivery since a position. A late delivery causes a late reaction, but in
// the recording all events were delivered at once.
func (p *player) delivered(since int) bool {
	h := p.cluster.World().History
	for ; since < h.Len(); since++ {
		if h.At(since).Op == sim.Delivery {
			return true
		}
	}
	return false
}

var errUnsettled = errors.New("the controllers do not settle")
