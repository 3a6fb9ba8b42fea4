package clusterwatch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

type heard struct {
	kind      *ServedKind
	at        time.Time
	listed    bool
	all       []*Version
	put, gone *Version
	left      bool // the kind is no longer watched
	why       string
}

func (h *heard) tell(c *Cluster) {
	switch {
	case h.left:
		c.Leave(h.kind)
	case h.listed:
		if c.kinds[h.kind.groupKind()] == nil {
			c.Look(h.kind)
		}
		c.Listed(h.at, h.kind, h.all)
	case h.put != nil:
		c.Put(h.at, h.put)
	case h.gone != nil:
		c.Gone(h.at, h.gone)
	}
}

const (
	pageSize = 500
	listTime = time.Minute // the time limit of a list request
)

// follower follows one kind. It implements the store of a Reflector, and sends the received objects to news.
type follower struct {
	*Reader
	context.Context

	kind    *ServedKind
	objects dynamic.ResourceInterface
	news    chan<- heard
	whole   bool // keep the bodies of the objects in the first list
	stop    context.CancelFunc

	failed int  // number of consecutive failures
	known  bool // the kind was listed at least once
}

// follow lists and watches the objects of a kind. It returns when ctx is done, or when the server refuses the kind.
func (r *Reader) follow(ctx context.Context, k *ServedKind, news chan<- heard, whole bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	objects := r.client.Resource(schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource})
	f := &follower{Reader: r, Context: ctx, kind: k, objects: objects.Namespace(r.Namespace), news: news, whole: whole,
		stop: stop}
	lists := &cache.ListWatch{ListWithContextFunc: f.list, WatchFuncWithContext: f.watch}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lists, f), nil, f,
		cache.ReflectorOptions{Backoff: &wait.Backoff{Duration: r.first, Factor: 2, Jitter: 1, Steps: 20, Cap: longWait}})
	reflector.WatchListPageSize = pageSize
	reflector.RunWithContext(ctx)
}

// IsWatchListSemanticsUnSupported makes the Reflector list in pages. A streaming list would hold all objects in memory.
func (f *follower) IsWatchListSemanticsUnSupported() bool { return true }

func (f *follower) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	o.ResourceVersion = "" // with resourceVersion=0, the server may ignore the page size
	page, err := f.objects.List(ctx, o)
	if f.answered(err); err != nil {
		return nil, err
	}
	list := &internalversion.List{ListMeta: metav1.ListMeta{ResourceVersion: page.GetResourceVersion(),
		Continue: page.GetContinue()}}
	for i := range page.Items {
		v, err := Parse(f.kind, page.Items[i].Object)
		if err != nil {
			return nil, err
		}
		if !f.known {
			v.lighten(f.whole)
		}
		list.Items = append(list.Items, v)
	}
	return list, nil
}

func (f *follower) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := f.objects.Watch(ctx, o)
	f.answered(err)
	return w, err
}

// answered counts consecutive failed requests for a kind. If the server refuses the kind, it stops following the kind.
// After three failures before the first list, it reports the kind as not watched, but tries again.
func (f *follower) answered(err error) {
	if err != nil && f.Err() != nil {
		return
	}
	var away *url.Error
	errors.As(err, &away)
	f.away.Store(away)
	if err == nil {
		f.failed = 0
		return
	}
	f.failed++
	third := f.failed == 3
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err),
		apierrors.IsUnauthorized(err) && third: // after the first 401, client-go gets new credentials by an exec plugin
		f.leave(err)
		f.stop()
	case third && !f.known:
		f.leave(err)
	case third && away != nil:
		f.Note("the server does not answer: " + away.Err.Error())
	}
}

func (f *follower) leave(err error) {
	f.Note(fmt.Sprintf("not watched: %s: %v", f.kind, err))
	f.say(heard{left: true, why: err.Error()})
}

func (f *follower) say(h heard) {
	h.kind, h.at = f.kind, time.Now()
	select {
	case f.news <- h:
	case <-f.Done():
	}
}

func (f *follower) Replace(list []any, _ string) error {
	all := make([]*Version, 0, len(list))
	for _, v := range list {
		all = append(all, v.(*Version))
	}
	f.known = true
	f.say(heard{listed: true, all: all})
	return nil
}

func (f *follower) Add(object any) error { return f.Update(object) }

func (f *follower) Update(object any) error {
	v, err := Parse(f.kind, object.(*unstructured.Unstructured).Object)
	if err == nil {
		f.say(heard{put: v})
	}
	return err
}

func (f *follower) Delete(object any) error {
	v, err := Parse(f.kind, object.(*unstructured.Unstructured).Object)
	if err == nil {
		f.say(heard{gone: v})
	}
	return err
}

// Resync does nothing, because the Cluster needs no repeated events.
func (f *follower) Resync() error { return nil }
