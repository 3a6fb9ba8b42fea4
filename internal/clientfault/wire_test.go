package clientfault_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/clientfault"
)

// site is a server with faults that listens on a port.
type site struct {
	t       *testing.T
	handler *httpapi.Handler
	url     string

	mu   sync.Mutex
	told []string
	asks map[string]int // for each "agent VERB", the number of finished requests
}

func newSite(t *testing.T) *site {
	s := &site{t: t, handler: httpapi.New(fakeapi.New(fakeapi.Options{}), time.Now), asks: map[string]int{}}
	s.handler.Faults = &clientfault.List{Tell: func(line, what string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, what)
	}}
	s.handler.Log = func(e httpapi.Exchange) {
		agent, _, _ := strings.Cut(e.UserAgent, "/")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asks[agent+" "+e.Verb]++
	}
	on := httptest.NewServer(s.handler)
	t.Cleanup(func() {
		s.handler.Close()
		on.Close()
	})
	s.url = on.URL
	return s
}

func (s *site) ask(line string) {
	s.t.Helper()
	s.handler.With(func(server *fakeapi.Server) {
		if _, _, err := s.handler.Faults.Apply(server, line); err != nil {
			s.t.Fatal(err)
		}
	})
}

// asked returns the number of finished requests of an agent with a verb.
func (s *site) asked(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks[what]
}

// client returns a client-go client for a program name.
func (s *site) client(name string) *rest.RESTClient {
	s.t.Helper()
	c, err := rest.RESTClientFor(&rest.Config{Host: s.url, APIPath: "/api", UserAgent: name + "/v1 (linux/amd64)",
		QPS: -1, ContentConfig: rest.ContentConfig{GroupVersion: &corev1.SchemeGroupVersion,
			NegotiatedSerializer: scheme.Codecs.WithoutConversion()}})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func create(t *testing.T, c *rest.RESTClient, name string) error {
	t.Helper()
	return c.Post().Namespace("default").Resource("configmaps").MaxRetries(0).
		Body(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}).Do(t.Context()).Error()
}

func made(t *testing.T, c *rest.RESTClient, name string) {
	t.Helper()
	if err := create(t, c, name); err != nil {
		t.Fatal(err)
	}
}

// informer runs an informer of client-go for ConfigMaps in the namespace default. The channel yields their names.
func (s *site) informer(name string) (added chan string, have cache.Store) {
	s.t.Helper()
	added = make(chan string, 1000)
	have, run := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(s.client(name), "configmaps", "default", fields.Everything()),
		ObjectType:    &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { added <- obj.(*corev1.ConfigMap).Name },
		}})
	var done sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	done.Go(func() { run.RunWithContext(ctx) })
	s.t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return added, have
}

// next waits until an object is added to an informer.
func next(t *testing.T, added <-chan string, want string) {
	t.Helper()
	select {
	case got := <-added:
		if got != want {
			t.Fatalf("%s is added, want %s", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%s is not added", want)
	}
}

// A paused client receives no events while others do. When its watch is resumed, it receives all of them.
func TestHold(t *testing.T) {
	s := newSite(t)
	held, _ := s.informer("held")
	other, _ := s.informer("other")
	c := s.client("user")
	made(t, c, "a")
	next(t, held, "a")
	next(t, other, "a")
	s.ask("hold held sees=cm")
	for _, name := range []string{"b", "c"} {
		made(t, c, name)
		next(t, other, name)
	}
	s.ask("hold other sees=cm")
	s.ask("release other") // this ends another hold, in a separate frame
	made(t, c, "d")
	next(t, other, "d")
	select {
	case name := <-held:
		t.Fatalf("a paused watch receives %s", name)
	default:
	}
	s.ask("release held sees=ConfigMap")
	for _, name := range []string{"b", "c", "d"} {
		next(t, held, name)
	}
	if n := s.asked("held WATCH"); n != 0 {
		t.Errorf("%d watches of the paused client have ended", n)
	}
}

// If a client is paused for so long that the server drops events, it gets 410 Expired and lists again.
func TestHoldOutlivesHistory(t *testing.T) {
	s := newSite(t)
	s.handler.History = 5
	held, have := s.informer("held")
	c := s.client("user")
	made(t, c, "first")
	next(t, held, "first")
	s.ask("hold held sees=cm")
	const n = 40
	for i := range n {
		made(t, c, "m"+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	if n := s.asked("held WATCH"); n != 0 {
		t.Errorf("%d watches of the paused client have ended", n)
	}
	s.ask("release held")
	for range n {
		select {
		case <-held:
		case <-time.After(30 * time.Second):
			t.Fatalf("the paused client has %d objects in its store, want %d", len(have.List()), n+1)
		}
	}
	if s.asked("held WATCH") == 0 {
		t.Error("the watch of the paused client has not ended")
	}
}

// A paused watch also receives no bookmarks. The initial list is sent.
func TestHoldKeepsBookmarks(t *testing.T) {
	s := newSite(t)
	made(t, s.client("user"), "a")
	s.ask("hold early sees=*")
	w, err := s.client("early").Get().Namespace("default").Resource("configmaps").
		Param("watch", "1").Param("sendInitialEvents", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersionMatch", "NotOlderThan").Param("timeoutSeconds", "3").Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var got []watch.EventType
	for e := range w.ResultChan() { // the last bookmark would be sent two seconds before the timeout
		got = append(got, e.Type)
	}
	if !slices.Equal(got, []watch.EventType{watch.Added, watch.Bookmark}) {
		t.Errorf("the paused watch receives %v, want the initial list", got)
	}
}

// The verb relist ends open watches with 410 Expired, like the real server, even if they are paused. Clients relist.
func TestRelist(t *testing.T) {
	s := newSite(t)
	added, _ := s.informer("op")
	c := s.client("user")
	made(t, c, "a")
	next(t, added, "a")
	w, err := s.client("op").Get().Namespace("default").Resource("configmaps").Param("watch", "1").
		Param("resourceVersion", "1").Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	s.ask("hold op sees=cm")
	made(t, c, "b")
	s.ask("relist op cm")
	next(t, added, "b") // from a list, because the watch is paused
	for e := range w.ResultChan() {
		if e.Type == watch.Added {
			continue
		}
		err := apierrors.FromObject(e.Object)
		if e.Type != watch.Error || !apierrors.IsResourceExpired(err) ||
			!strings.HasPrefix(err.Error(), "too old resource version: ") {
			t.Errorf("%s %v", e.Type, err)
		}
	}
	// If no watch is open, the next watch ends.
	s.ask("relist later cm")
	late, err := s.client("later").Get().Namespace("default").Resource("configmaps").Param("watch", "1").
		Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e := <-late.ResultChan(); e.Type != watch.Error {
		t.Errorf("the next watch begins with %s", e.Type)
	}
	if _, open := <-late.ResultChan(); open {
		t.Error("it goes on")
	}
}

// Only the nth request fails, in the same way as on the real server.
func TestFail(t *testing.T) {
	s := newSite(t)
	user := s.client("user")
	for with, c := range map[string]struct {
		is      func(error) bool
		commits bool
	}{
		"409":     {apierrors.IsConflict, false},
		"429":     {isThrottled, false},
		"500":     {apierrors.IsInternalError, false},
		"503":     {apierrors.IsServiceUnavailable, false},
		"504":     {apierrors.IsTimeout, false},
		"timeout": {apierrors.IsTimeout, true},
		"lost":    {utilnet.IsProbableEOF, true},
	} {
		t.Run(with, func(t *testing.T) {
			op := s.client("op-" + with)
			s.ask("fail op-" + with + " create cm nth=2 with=" + with)
			for i, name := range []string{"first-", "second-", "third-"} {
				err := create(t, op, name+with)
				if i == 1 && (err == nil || !c.is(err)) || i != 1 && err != nil {
					t.Errorf("create %d: %v", i+1, err)
				}
			}
			err := user.Get().Namespace("default").Resource("configmaps").Name("second-" + with).Do(t.Context()).Error()
			if executed := err == nil; executed != c.commits {
				t.Errorf("executed: %t, want %t", executed, c.commits)
			}
			if c.commits { // if the server refuses the request, the client gets the refusal
				s.ask("fail op-" + with + " create cm with=" + with)
				if err := create(t, op, "second-"+with); !apierrors.IsAlreadyExists(err) {
					t.Errorf("a second create of the name: %v", err)
				}
			}
		})
	}
}

func isThrottled(err error) bool {
	seconds, ok := apierrors.SuggestsClientDelay(err)
	return apierrors.IsTooManyRequests(err) && ok && seconds == 1
}

// The opening of a watch fails, and reads fail, like other requests.
func TestFailReads(t *testing.T) {
	s := newSite(t)
	s.ask("fail op watch cm with=503")
	s.ask("fail op get cm with=500")
	s.ask("delay op list cm by=200ms")
	op := s.client("op")
	cms := func() *rest.Request { return op.Get().Namespace("default").Resource("configmaps").MaxRetries(0) }
	if _, err := cms().Param("watch", "1").Watch(t.Context()); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("watch: %v", err)
	}
	if err := cms().Name("a").Do(t.Context()).Error(); !apierrors.IsInternalError(err) {
		t.Errorf("get: %v", err)
	}
	began := time.Now()
	if err := cms().Do(t.Context()).Error(); err != nil || time.Since(began) < 200*time.Millisecond {
		t.Errorf("list: %v after %v", err, time.Since(began))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	want := "watch configmaps of op is not executed, and answered 503\nget configmaps default/a of op is not " +
		"executed, and answered 500\nlist configmaps of op waits 200ms"
	if got := strings.Join(s.told, "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Faults can be added and removed while many programs send requests.
func TestFaultsAtOnce(t *testing.T) {
	s := newSite(t)
	var done sync.WaitGroup
	names := []string{"a", "b", "c"}
	for _, name := range names {
		added, _ := s.informer(name)
		done.Go(func() {
			for range 3 * 20 {
				select {
				case <-added:
				case <-time.After(30 * time.Second):
					t.Error(name + " misses objects")
					return
				}
			}
		})
		c := s.client(name)
		done.Go(func() {
			for i := range 20 {
				object := name + string(rune('a'+i))
				for err := create(t, c, object); err != nil && !apierrors.IsAlreadyExists(err); {
					err = create(t, c, object)
				}
			}
		})
	}
	done.Go(func() {
		for i := range 30 {
			who := names[i%3]
			for _, line := range []string{"hold " + who + " sees=cm", "fail " + who + " create cm with=lost",
				"relist " + who + " cm", "fail * write cm with=409", "release " + who} {
				s.ask(line)
			}
		}
	})
	done.Wait()
	if gone, err := s.handler.Faults.Remove(0); err != nil || len(gone) == 0 {
		t.Error(gone, err)
	}
}
