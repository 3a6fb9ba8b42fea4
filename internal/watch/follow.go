package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// heard is what a follower has to say to the cluster.
type heard struct {
	kind      *Kind
	at        time.Time
	listed    bool
	all       []*Version
	put, gone *Version
	left      bool // it is not looked at any more
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
	pageSize  = 500
	listTime  = time.Minute
	watchTime = 5 * time.Minute
	firstWait = 200 * time.Millisecond // before it is tried again; twice as long each time
	longWait  = 30 * time.Second
)

// follower lists the objects of one kind and watches them.
type follower struct {
	*Reader
	kind  *Kind
	news  chan<- heard
	whole bool // bodies of the first list are wanted

	version string // the last that was seen
	failed  int    // times in a row
	known   bool   // it was listed once
	noted   bool
}

// run lists and watches until the context is over, or the kind cannot be read at all.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := f.list(ctx)
		for err == nil && ctx.Err() == nil {
			err = f.watch(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return
		case is(err, http.StatusGone):
			continue
		case is(err, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed):
			f.leave(ctx, err)
			return
		}
		if f.failed++; f.failed == 3 && !f.known {
			f.leave(ctx, err) // it may come later
		} else {
			f.silent(err)
		}
		f.wait(ctx, err)
	}
}

// leave says that a kind is not looked at.
func (f *follower) leave(ctx context.Context, err error) {
	if !f.noted {
		f.noted = true
		f.Note(fmt.Sprintf("not looked at: %s: %v", f.kind, err))
	}
	f.say(ctx, heard{left: true, why: err.Error()})
}

func (f *follower) say(ctx context.Context, h heard) {
	h.kind, h.at = f.kind, time.Now()
	select {
	case f.news <- h:
	case <-ctx.Done():
	}
}

// wait waits before it is tried again: as long as the server says, or ever longer.
func (f *follower) wait(ctx context.Context, err error) {
	d := min(f.first<<min(f.failed, 10), longWait)
	d = d/2 + rand.N(d/2+1)
	if r := (*refusal)(nil); errors.As(err, &r) && r.after > d {
		d = r.after
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (f *follower) path() string {
	p := "/api/" + f.kind.Version
	if f.kind.Group != "" {
		p = "/apis/" + f.kind.Group + "/" + f.kind.Version
	}
	if f.Namespace != "" {
		p += "/namespaces/" + f.Namespace
	}
	return p + "/" + f.kind.Resource
}

// list reads all objects, page by page.
func (f *follower) list(ctx context.Context) error {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var all []*Version
	rest := ""
	for {
		var page struct {
			Metadata struct{ ResourceVersion, Continue string }
			Items    []json.RawMessage
		}
		if err := f.page(ctx, rest, &page); err != nil {
			return err
		}
		for i, raw := range page.Items {
			v, err := Parse(f.kind, raw)
			if err != nil {
				return err
			}
			if !f.known {
				v.o.lighten(f.whole)
			}
			all, page.Items[i] = append(all, v), nil
		}
		if rest = page.Metadata.Continue; rest == "" {
			f.version = page.Metadata.ResourceVersion
			break
		}
	}
	f.known, f.failed = true, 0
	f.say(ctx, heard{listed: true, all: all})
	return nil
}

// lighten leaves out of an object what only a comparison with another version needs.
func (o *object) lighten(whole bool) {
	for i := range o.managers {
		o.managers[i].fields = nil
	}
	if !whole {
		o.body = nil
	}
}

func (f *follower) page(ctx context.Context, rest string, into any) error {
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if rest != "" {
		query.Set("continue", rest)
	}
	resp, err := f.get(ctx, f.path(), query)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// watch says what happens from the last version on. A watch that ends is nothing to speak
// of, and neither is one that broke off after it had shown something.
func (f *follower) watch(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 2*watchTime)
	defer stop()
	began := time.Now()
	lasts := int((watchTime + rand.N(watchTime)/2).Seconds())
	resp, err := f.get(ctx, f.path(), url.Values{"watch": {"1"}, "resourceVersion": {f.version},
		"allowWatchBookmarks": {"1"}, "timeoutSeconds": {strconv.Itoa(lasts)}})
	if is(err, http.StatusGone, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound) {
		return err
	}
	if err == nil {
		shown := 0
		shown, err = f.events(ctx, resp.Body)
		resp.Body.Close()
		if shown > 0 || time.Since(began) > time.Second {
			f.failed = 0
		}
	}
	if is(err, http.StatusGone) {
		return err
	}
	f.failed++
	f.silent(err)
	f.wait(ctx, err)
	return nil
}

// silent tells of a server that has not answered three times in a row: what happens
// meanwhile is seen only as far as it lasts.
func (f *follower) silent(err error) {
	if away := (*url.Error)(nil); f.failed == 3 && errors.As(err, &away) && !errors.Is(err, context.Canceled) {
		f.Note("the server does not answer: " + away.Err.Error())
	}
}

// events reads what a watch shows, to its end.
func (f *follower) events(ctx context.Context, from io.Reader) (shown int, err error) {
	for d := json.NewDecoder(from); ; shown++ {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if err := d.Decode(&e); err != nil {
			return shown, err
		}
		if e.Type == "ERROR" {
			var status struct {
				Code    int
				Message string
			}
			_ = json.Unmarshal(e.Object, &status)
			return shown, &refusal{code: status.Code, message: status.Message}
		}
		v, err := Parse(f.kind, e.Object)
		if err != nil {
			return shown, err
		}
		switch e.Type {
		case "ADDED", "MODIFIED":
			f.say(ctx, heard{put: v})
		case "DELETED":
			f.say(ctx, heard{gone: v})
		}
		f.version = v.Number()
	}
}
