package watch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Reader reads a cluster: with lists and watches, and nothing else.
type Reader struct {
	Namespace string   // the one that is looked at; "" for all, and what is in none
	Kinds     []string // as resources, "deployments.apps"; none for all that can be watched
	// Note is told what is not looked at, and why, once each. Several goroutines call it.
	Note func(text string)

	config *Config
	client *http.Client
	slots  chan struct{} // for lists that are under way at once
	first  time.Duration // before what failed is tried again
}

// mostLists is how many lists are asked for at once.
const mostLists = 8

// NewReader returns a reader of the server that a configuration names.
func NewReader(config *Config) (*Reader, error) {
	client, err := config.client()
	if err != nil {
		return nil, err
	}
	return &Reader{config: config, client: client, slots: make(chan struct{}, mostLists), first: firstWait,
		Note: func(string) {}}, nil
}

// again is how often it is asked which kinds there are: definitions come and go.
const again = 5 * time.Minute

// Run tells a cluster what it reads, until the context is over or done says so. It is an
// error where nothing can be read at all.
func (r *Reader) Run(ctx context.Context, c *Cluster, done func() bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	kinds, err := r.discover(ctx, true)
	if err != nil {
		return err
	}
	news := make(chan heard, 256)
	followed := map[string]bool{}
	follow := func(kinds []*Kind) {
		for _, k := range kinds {
			if !followed[k.String()] {
				followed[k.String()] = true
				c.Look(k)
				f := &follower{Reader: r, kind: k, news: news, whole: c.Record != nil}
				go f.run(ctx)
			}
		}
	}
	follow(kinds)
	tick := time.NewTicker(max(min(time.Second, c.Patience/4), 20*time.Millisecond))
	defer tick.Stop()
	more := make(chan []*Kind)
	go r.rediscover(ctx, more)
	left := 0
	for !done() {
		select {
		case <-ctx.Done():
			return nil
		case kinds := <-more:
			follow(kinds)
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
	return nil
}

// rediscover says now and then which kinds there are.
func (r *Reader) rediscover(ctx context.Context, to chan<- []*Kind) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
		if kinds, err := r.discover(ctx, false); err == nil {
			select {
			case to <- kinds:
			case <-ctx.Done():
				return
			}
		}
	}
}

// get asks for a path.
func (r *Reader) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	u := *r.config.Server
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "threelaws-watch")
	if err := r.config.sign(req); err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		r.config.forget()
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refusalOf(resp)
	}
	return resp, nil
}
