package watch

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Reader reads a cluster with lists and watches only.
type Reader struct {
	Namespace string   // the one that is looked at; "" for all, and what is in none
	Kinds     []string // as resources, "deployments.apps"; none for all that can be watched
	// Note gets what is not watched, and why, once each. Several goroutines call it.
	Note func(text string)

	discovery discovery.DiscoveryInterface
	client    dynamic.Interface
	slots     chan struct{}             // limits concurrent lists
	first     time.Duration             // the first delay of a retry; it doubles each time
	away      atomic.Pointer[url.Error] // error of the last request; nil if the server answered it
}

const (
	mostLists = 8
	firstWait = 200 * time.Millisecond
	longWait  = 30 * time.Second
)

// NewReader returns a reader of the configured server.
func NewReader(config *rest.Config) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "threelaws-watch"
	config.QPS = -1 // the slots limit the requests at once
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Reader{discovery: kinds, client: client, slots: make(chan struct{}, mostLists), first: firstWait,
		Note: func(string) {}}, nil
}

// again is how often discovery is repeated: CRDs may be added or removed.
const again = 5 * time.Minute

// Run feeds a cluster until the context ends or done returns true. It returns an error if nothing can be read at all,
// or if the server does not answer in the end.
func (r *Reader) Run(ctx context.Context, c *Cluster, done func() bool) error {
	ctx, stop := context.WithCancel(klog.NewContext(ctx, klog.Logger{})) // client-go logs nothing: Note reports it
	defer stop()
	type found struct {
		kinds []*Kind
		err   error
	}
	more := make(chan found, 1)
	discover := func(first bool) {
		kinds, err := r.discover(first)
		more <- found{kinds, err}
	}
	go discover(true)
	var begin found
	select {
	case <-ctx.Done():
		return nil
	case begin = <-more:
	}
	if begin.err != nil {
		return begin.err
	}
	news := make(chan heard, 256)
	followed := map[string]bool{}
	follow := func(kinds []*Kind) {
		for _, k := range kinds {
			if !followed[k.String()] {
				followed[k.String()] = true
				c.Look(k)
				go r.follow(ctx, k, news, c.Record != nil)
			}
		}
	}
	follow(begin.kinds)
	tick := time.NewTicker(max(min(time.Second, c.Patience/4), 20*time.Millisecond))
	defer tick.Stop()
	rediscover := time.NewTicker(again)
	defer rediscover.Stop()
	left := 0
	for !done() {
		select {
		case <-ctx.Done():
			return nil
		case <-rediscover.C:
			go discover(false)
		case f := <-more:
			follow(f.kinds) // none where it failed
		case now := <-tick.C:
			c.Tick(now)
		case h := <-news:
			h.tell(c)
			if h.left {
				if left++; left == len(followed) && c.Len() == 0 {
					return fmt.Errorf("none of %d kinds can be listed: %s", left, h.why)
				}
			}
		}
	}
	if away := r.away.Load(); away != nil {
		return fmt.Errorf("the server does not answer: %w", away.Err)
	}
	return nil
}
