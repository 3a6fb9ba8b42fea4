package host

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// observations holds the versions of a kind's objects that a program has received.
type observations struct {
	state    *kindState
	shown    map[string]*version      // key -> newest version; without deleted objects
	abstract uint64                   // sum of the abstract digests of the versions in shown
	past     map[string][]observation // key -> the last versions that the program has received, oldest first
}

// observation is one version of an object that the program has seen.
type observation struct {
	at     int    // the length of the history when the program received it
	thread uint64 // the goroutine whose request returned the version; 0 for a watch or a cache's list
	obj    any    // nil: the object was deleted
}

// observationsKept is the number of versions to keep of each object. Older versions are assumed to be unused.
const observationsKept = 16

func (g *hosted) observations(k *fakeapi.Kind) *observations {
	s := g.known[k]
	if s == nil {
		s = &observations{state: g.process.cluster.state(k), shown: map[string]*version{}, past: map[string][]observation{}}
		g.known[k] = s
		g.order = append(g.order, s)
	}
	return s
}

// saw returns the version of an object that the goroutine of c has probably read, or nil. If c names a resource
// version, saw returns that version. Otherwise it returns the oldest version that the goroutine may have read in its
// current work. It prefers versions with the UID of the stored object.
func (s *observations) saw(namespace, name string, c *Call) any {
	key := sim.Ref{Namespace: namespace, Name: name}.Key()
	var read []any
	_, version := c.Request.Preconditions()
	for _, x := range s.past[key] {
		m, is := x.obj.(metav1.Object)
		switch {
		case version != "" && is && m.GetResourceVersion() == version:
			return x.obj
		case x.at <= c.since:
			read = append(read[:0], x.obj)
		case x.at <= c.asked && (x.thread == 0 || x.thread == c.Thread):
			read = append(read, x.obj)
		}
	}
	if len(read) == 0 {
		return nil
	}
	if now := s.state.current(namespace, name); now != nil && now.obj != nil {
		for _, obj := range read {
			if m, is := obj.(metav1.Object); is && m.GetUID() == now.meta.GetUID() {
				return obj
			}
		}
	}
	return read[0]
}

func (s *observations) remember(key string, x observation) {
	past := append(s.past[key], x)
	if len(past) > observationsKept {
		past = slices.Delete(past, 0, 1)
	}
	s.past[key] = past
}

// put sets the newest known version of a key, and returns the old one. v is nil for a deleted object.
func (s *observations) put(key string, v *version) (old *version) {
	if old = s.shown[key]; old != nil {
		s.abstract -= sim.Mix(old.abstract)
		delete(s.shown, key)
	}
	if v != nil {
		s.abstract += sim.Mix(v.abstract)
		s.shown[key] = v
	}
	return old
}

// show records that the program has received a change by a watch or list, unless it had received the change before.
func (g *hosted) show(k *fakeapi.Kind, ch *change, initial bool) {
	s, key, c := g.observations(k), ch.key(), g.process.cluster
	known := s.shown[key]
	if ch.after != nil && known != nil && known.n >= ch.after.n || ch.after == nil &&
		(known == nil || known.meta.GetUID() != ch.before.meta.GetUID()) {
		return // another watch or list has shown the change, or the program never received the deleted object
	}
	v := ch.after
	if v == nil {
		v = ch.before
	}
	r := g.process.delivery(s.state.kind, ch, v, initial)
	if old := s.put(key, ch.after); old != nil {
		r.Before = old.obj
	}
	is := observation{}
	if ch.after != nil {
		r.After, is.obj = ch.after.obj, ch.after.obj
	}
	g.last = c.world.Record(r).Index
	is.at = c.world.History.Len()
	s.remember(key, is)
}

// open opens a watch. If the watch starts at a revision, the program is assumed to know the list of that revision.
func (g *hosted) open(c *Call) (*Stream, fakeapi.Response) {
	cluster, req := g.process.cluster, c.Request
	source, err := cluster.server.Watch(req.Kind, req.Namespace, req.Name, req.List)
	if err != nil {
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			status = apierrors.NewInternalError(err)
		}
		return nil, fakeapi.Response{Code: int(status.ErrStatus.Code), Err: status}
	}
	if from, _ := strconv.ParseUint(req.List.ResourceVersion, 10, 64); from > 0 {
		g.listed(req, from)
	}
	s := &Stream{Kind: cluster.met(req.Kind), source: source, scope: scopeOf(req)}
	return s, fakeapi.Response{Code: http.StatusOK}
}

// listed records that the program has received a list at a revision. Known objects that the list lacks count as
// deleted.
func (g *hosted) listed(req *fakeapi.Request, from uint64) {
	c := g.process.cluster
	there := c.selected(req, from)
	if there == nil {
		return // the revision was compacted, and the watch will report that
	}
	known := g.observations(c.met(req.Kind))
	initial := len(known.past) == 0
	// the objects that existed when the cluster learned of the kind count as older than the list
	items, _, at := c.listAt(known.state, max(from, known.state.met))
	for _, v := range items {
		if there[v.key] {
			g.show(known.state.kind, &change{version: at, after: v, cause: -1}, initial)
		}
	}
	if scope := scopeOf(req); scope != "" && scope != req.Namespace {
		return // an object that does not match a selector may still exist
	}
	for _, key := range sortedKeys(known.shown) {
		v := known.shown[key]
		if !there[key] && (req.Namespace == "" || v.meta.GetNamespace() == req.Namespace) {
			g.show(known.state.kind, &change{version: at, before: v, cause: -1, tombstone: true}, false)
		}
	}
}

// selected returns the keys of the objects that a request selects at a revision; nil if the server refuses such a list.
func (c *Cluster) selected(req *fakeapi.Request, revision uint64) map[string]bool {
	list := metav1.ListOptions{LabelSelector: req.List.LabelSelector, FieldSelector: req.List.FieldSelector,
		ResourceVersion: strconv.FormatUint(revision, 10), ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	k := req.Kind
	if list.FieldSelector == "" {
		k = k.Stored() // no conversion webhook is called
	}
	resp, _ := c.server.Do(c.world.Clock.Now(), &fakeapi.Request{Verb: fakeapi.List, Kind: k,
		Namespace: req.Namespace, List: list})
	if resp.Err != nil {
		return nil
	}
	there := make(map[string]bool, len(resp.Items))
	for _, obj := range resp.Items {
		if m := obj.(metav1.Object); req.Name == "" || m.GetName() == req.Name {
			there[keyOf(m)] = true
		}
	}
	return there
}

// waiting takes the new events of a watch from the server, and returns how many events wait for delivery.
func (g *hosted) waiting(s *Stream) int {
	c := g.process.cluster
	for _, e := range s.source.Next() {
		p := pending{event: e}
		if e.Type != watch.Error && e.Type != watch.Bookmark {
			p.is = c.toldBy(s.Kind, e)
		}
		s.queue = append(s.queue, p)
	}
	if s.source.Done() && !s.ended { // the server has ended the watch, so the program must list again
		if n := len(s.queue); n == 0 || s.queue[n-1].event.Type != watch.Error {
			s.queue = append(s.queue, pending{event: watch.Event{Type: watch.Error, Object: expired()}})
		}
		s.ended = true
	}
	return len(s.queue)
}

// toldBy returns the change that a watch event reports.
func (c *Cluster) toldBy(k *fakeapi.Kind, e watch.Event) change {
	m := e.Object.(metav1.Object)
	revision, _ := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	s := c.state(k)
	if at := c.find(revision); at < len(c.noted) && c.noted[at].version == revision {
		ch := c.noted[at]
		if e.Type == watch.Deleted && ch.after != nil { // the object still exists, but no longer matches the selector
			ch.before, ch.after = ch.after, nil
		}
		return ch
	}
	v := newVersion(s.salt, keyOf(m), 1, e.Object)
	if e.Type == watch.Deleted {
		return change{version: revision, before: v, cause: -1}
	}
	return change{version: revision, after: v, cause: -1}
}

func (g *hosted) deliver(s *Stream) {
	next := s.queue[0]
	s.queue = s.queue[1:]
	if next.is.after != nil || next.is.before != nil {
		g.show(s.Kind, &next.is, false)
	}
	s.over = next.event.Type == watch.Error
	g.program.Send(s, next.event)
}

// expired returns the Status of the ERROR event that ends a watch with 410, so that the client lists again.
func expired() runtime.Object {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: "too old resource version", Reason: metav1.StatusReasonExpired, Code: http.StatusGone}
}

// aged returns the request to execute in place of req, and the revision at which the server answers it. After a restart
// with a lagging server, the first list of each kind that fills a cache reads the old revision g.from.
func (g *hosted) aged(req *fakeapi.Request) (*fakeapi.Request, uint64) {
	if g.from == 0 || !fills(req) || g.aging[req.Kind] {
		return req, g.process.cluster.server.Version()
	}
	g.aging[req.Kind] = true
	old := *req
	old.List.ResourceVersion = strconv.FormatUint(g.from, 10)
	old.List.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	return &old, g.from
}

// fills reports whether a request is a list that fills a cache. Its resource version "0" accepts any revision.
func fills(req *fakeapi.Request) bool {
	return req.Verb == fakeapi.List && req.List.ResourceVersion == "0"
}
