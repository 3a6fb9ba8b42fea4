package fakeapi

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Watch is a stream of events for the selected objects of a kind.
type Watch struct {
	s         *Server
	k         *Kind
	as        *Kind  // the version of the events; nil for the storage version
	namespace string // "" for all namespaces
	sel       selectors
	seen      uint64 // the revision up to which changes were read
	initial   []watch.Event
	failed    bool
	renewed   int // how many changes of the CRD there were when the watch started
}

// Watch starts a watch. A name selects one object. Without a resourceVersion, the events begin with the existing
// objects. If the resourceVersion is compacted, the only event is an ERROR. Invalid options are refused with an error.
func (s *Server) Watch(k *Kind, namespace, name string, opts metav1.ListOptions) (*Watch, error) {
	if now := s.current(k); now != nil {
		k = now
	}
	if t := s.tables[k.ordinal]; t.away {
		if err := s.settle(k.Stored(), ""); err != nil {
			return nil, errUnlisted(k, err)
		}
	}
	if err := k.selectStored(&opts); err != nil {
		return nil, err
	}
	opts.Watch = true
	setListDefaults(&opts)
	if err := validateListOptions(&opts); err != nil {
		return nil, err
	}
	sel, err := s.selectors(k.selects(), &opts)
	if err != nil {
		return nil, err
	}
	if name != "" {
		one := fields.OneTermEqualSelector("metadata.name", name)
		if sel.fields != nil {
			one = fields.AndSelectors(sel.fields, one)
		}
		sel.fields = one
	}
	from, err := parseWatchVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if sel.fields != nil && namespace == "" {
		if ns, ok := sel.fields.RequiresExactMatch("metadata.namespace"); ok {
			namespace = ns
		}
	}
	t := s.tables[k.ordinal]
	w := &Watch{s: s, k: k.Stored(), namespace: namespace, sel: sel, seen: from, renewed: len(t.renewed)}
	if k.stored != nil {
		w.as = k
	}
	switch {
	case from > 0 && from < t.lastRenewed():
		w.failed, w.initial = true, []watch.Event{errorEvent(errTooOld(from, t.lastRenewed()))}
	case opts.SendInitialEvents != nil && *opts.SendInitialEvents && from > s.version:
		w.failed, w.initial = true, []watch.Event{errorEvent(errTooLarge(from, s.version))}
	case opts.SendInitialEvents != nil && *opts.SendInitialEvents:
		w.addInitial(opts.AllowWatchBookmarks)
	case from == 0:
		w.seen = s.version
	}
	return w, nil
}

func (w *Watch) addInitial(bookmark bool) {
	w.seen = w.s.version
	var there []runtime.Object
	w.s.tables[w.k.ordinal].each(w.namespace, func(e *entry) bool {
		if w.sel.match(e.obj) {
			obj := e.obj
			if w.as != nil {
				obj = e.source()
			}
			there = append(there, obj)
		}
		return true
	})
	there, err := w.sel.pick(there)
	if err != nil {
		w.failed, w.initial = true, []watch.Event{errorEvent(err)}
		return
	}
	for _, obj := range there {
		w.initial = append(w.initial, watch.Event{Type: watch.Added, Object: obj})
	}
	if bookmark {
		w.initial = append(w.initial, w.Bookmark(true))
	}
}

// Bookmark returns a BOOKMARK event with the watch's revision. If initial is set, the event has the annotation that
// marks the end of the initial objects.
func (w *Watch) Bookmark(initial bool) watch.Event {
	k := w.k
	if w.as != nil {
		k = w.as
	}
	obj := k.row.Empty()
	m := metadata.Of(obj)
	m.SetResourceVersion(strconv.FormatUint(w.seen, 10))
	if initial {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return watch.Event{Type: watch.Bookmark, Object: obj}
}

func (w *Watch) next() []watch.Event {
	out := w.initial
	w.initial = nil
	if w.failed {
		return out
	}
	t, now := w.s.tables[w.k.ordinal], w.s.version
	changes, err := w.s.Since(w.k, w.seen)
	if err != nil {
		w.failed = true
		return append(out, errorEvent(err))
	}
	w.failed = len(t.renewed) > w.renewed
	for i := range changes {
		if w.failed && changes[i].Version > t.renewed[w.renewed] {
			break
		}
		w.seen = changes[i].Version
		if ev, ok := w.see(&changes[i]); ok {
			out = append(out, ev)
		}
	}
	w.seen = max(w.seen, now) // the server may have handled other requests during a webhook call
	return out
}

func errorEvent(err error) watch.Event {
	status := refuse(err).Err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return watch.Event{Type: watch.Error, Object: &status}
}

// Done reports whether the watch has ended. A watch ends after an error, and when its CRD changes. After a change of
// the CRD, a new watch from the last revision fails with 410.
func (w *Watch) Done() bool { return w.failed }

// see returns the watch event for a change: ADDED if the object begins to match, and DELETED if it no longer matches. A
// DELETED event contains the old state with the revision of the change.
func (w *Watch) see(ev *Event) (watch.Event, bool) {
	if w.namespace != "" && !inNamespace(ev.Key, w.namespace, w.k.Namespaced) {
		return watch.Event{}, false
	}
	was, is := w.selects(ev.Before), w.selects(ev.After)
	switch {
	case was && is:
		return watch.Event{Type: watch.Modified, Object: ev.After}, true
	case is:
		return watch.Event{Type: watch.Added, Object: ev.After}, true
	case was && ev.Last != nil:
		return watch.Event{Type: watch.Deleted, Object: ev.Last}, true
	case was:
		return watch.Event{Type: watch.Deleted, Object: w.k.at(ev.Before, ev.Version)}, true
	}
	return watch.Event{}, false
}

func (w *Watch) selects(obj runtime.Object) bool {
	if obj == nil {
		return false
	}
	yes, err := w.sel.selects(obj)
	return yes && err == nil
}

func (k *Kind) at(obj runtime.Object, version uint64) runtime.Object {
	c := k.row.Shallow(obj)
	metadata.Of(c).SetResourceVersion(strconv.FormatUint(version, 10))
	return c
}

func inNamespace(key, namespace string, namespaced bool) bool {
	return !namespaced || len(key) > len(namespace) && key[len(namespace)] == '/' && key[:len(namespace)] == namespace
}

// Next returns the events since the last call. After the last event of a watch that has ended, it returns nil.
func (w *Watch) Next() []watch.Event {
	if w.seen == w.s.version && len(w.initial) == 0 || w.failed && w.initial == nil {
		return nil // a fast path: a simulation calls Next for each watch after each step
	}
	events, err := w.Pull()()
	if err != nil {
		return append(events, errorEvent(err))
	}
	return events
}

// Pull does the work of Next in two steps: Pull reads the server, and the returned function calls conversion webhooks.
// If an object cannot be converted, the function returns the events before it and an error, and the watch ends.
func (w *Watch) Pull() (show func() ([]watch.Event, error)) {
	events := w.next()
	if w.as == nil || len(events) == 0 {
		return func() ([]watch.Event, error) { return events, nil }
	}
	see := func(obj runtime.Object) (runtime.Object, error) { return w.s.shown(w.as, obj), nil }
	var unable error
	if w.as.asks() {
		see, unable = w.s.way(w.as)
	}
	return func() ([]watch.Event, error) {
		shown := make([]watch.Event, 0, len(events)+1)
		for _, ev := range events {
			obj, err := ev.Object, unable
			if ev.Type == watch.Bookmark || ev.Type == watch.Error {
				err = nil // bookmarks and errors are not converted
			} else if err == nil {
				obj, err = see(obj)
			}
			if err != nil {
				w.failed = true
				return shown, errUnlisted(w.as, err)
			}
			shown = append(shown, watch.Event{Type: ev.Type, Object: obj})
		}
		return shown, nil
	}
}
