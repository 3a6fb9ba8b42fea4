package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"threelaws/wire"
)

// call is a request that waits for its response, or whose response body is incomplete.
type call struct {
	id       int64
	answered chan struct{}
	resp     *http.Response
	stream   *stream // the response body, if it is incomplete
}

var errDead = errors.New("the process was killed")

// RoundTrip sends a request to the world and waits for the response.
func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	ctx := r.Context()
	if ctx.Err() != nil {
		return nil, a.lapsed(ctx)
	}
	c := &call{answered: make(chan struct{})}
	a.mu.Lock()
	if a.failed {
		a.mu.Unlock()
		return nil, errDead
	}
	if !a.stopped {
		a.last++
		c.id = a.last
		a.calls[c.id] = c
		if a.ask(c, r, body); c.resp != nil { // return at once: the caller may hold a mutex that others wait for
			a.mu.Unlock()
			c.resp.Request = r
			return c.resp, nil
		}
	}
	a.mu.Unlock()
	a.stir()
	select {
	case <-c.answered:
		c.resp.Request = r
		if c.stream != nil {
			c.stream.ctx = ctx
		}
		return c.resp, nil
	case <-a.dead:
		return nil, errDead
	case <-ctx.Done():
		a.withdraw(c.id)
		return nil, a.lapsed(ctx)
	}
}

// ask sends a request to the world. The world responds at once, or later with a Reply.
func (a *agent) ask(c *call, r *http.Request, body []byte) {
	var m wire.Message
	m.Num(wire.Ask)
	m.Num(c.id)
	m.Num(int64(goroutine()))
	m.Num(a.reconciles[labels()])
	m.Text(r.Method)
	m.Text(r.URL.String())
	m.Header(r.Header)
	m.Bytes(body)
	a.write(m)
	m = a.read()
	if m.TakeNum() == wire.Reply {
		m.TakeNum() // the time, which has not changed
		a.reply(m)
	}
}

func (a *agent) withdraw(id int64) {
	a.mu.Lock()
	a.withdrawn = append(a.withdrawn, id)
	a.mu.Unlock()
}

// lapsed returns the error of a request whose context is done. While the program is being ended, lapsed first waits
// until all requests fail. So the caller cannot send another request.
func (a *agent) lapsed(ctx context.Context) error {
	a.mu.Lock()
	stopped := a.stopped
	a.mu.Unlock()
	if stopped {
		<-a.dead
	}
	return ctx.Err()
}

func (a *agent) reply(m wire.Message) {
	c := a.calls[m.TakeNum()]
	code := int(m.TakeNum())
	c.resp = &http.Response{StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: m.TakeHeader(), ContentLength: -1}
	if m.TakeFlag() {
		c.stream = &stream{id: c.id, agent: a, dead: a.dead, ctx: context.Background(), more: make(chan struct{}, 1)}
		c.resp.Body = c.stream
	} else {
		body := m.TakeBytes()
		c.resp.ContentLength = int64(len(body))
		c.resp.Body = io.NopCloser(bytes.NewReader(body))
		delete(a.calls, c.id)
	}
	close(c.answered)
}

type stream struct {
	id    int64
	agent *agent
	dead  chan struct{} // closed when the world ends
	ctx   context.Context
	more  chan struct{}

	mu     sync.Mutex
	unread []byte
	ended  bool
	closed bool
}

func (b *stream) send(end bool, p []byte) {
	b.mu.Lock()
	b.unread, b.ended = append(b.unread, p...), b.ended || end
	b.mu.Unlock()
	b.wake()
}

func (b *stream) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// Read waits until data is available.
func (b *stream) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		n := copy(p, b.unread)
		b.unread = b.unread[n:]
		ended, closed := b.ended, b.closed
		b.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case closed:
			return 0, http.ErrBodyReadAfterClose
		case ended:
			return 0, io.EOF
		}
		select {
		case <-b.more:
		case <-b.ctx.Done():
			b.Close()
			return 0, b.ctx.Err()
		case <-b.dead:
			return 0, errDead
		}
	}
}

// Close ends the response body from the client's side.
func (b *stream) Close() error {
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	b.mu.Unlock()
	if first {
		b.agent.withdraw(b.id)
	}
	b.wake()
	return nil
}
