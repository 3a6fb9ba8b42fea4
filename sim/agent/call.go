package agent

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/sim/host"
)

// call is a request of a program. It is the gate of its own transport: the request waits there until the
// scheduler has had it executed and delivers the answer.
type call struct {
	life    *life
	id      int64
	thread  uint64
	cancel  context.CancelFunc
	call    *host.Call
	feed    httpapi.Feed  // of a watch
	reached chan struct{} // closed at the gate
	on      chan struct{} // closed when it may pass the gate
	done    chan struct{} // closed when there is an answer
	resp    *http.Response
	err     error
	gone    atomic.Bool // nobody waits for the answer
}

// ask takes in a request. What is not about objects, as discovery, is answered at once; anything else waits.
func (l *life) ask(m wire.Message) wire.Message {
	c := &call{life: l, id: m.TakeNum(), reached: make(chan struct{}), on: make(chan struct{}), done: make(chan struct{})}
	m.TakeNum() // a process has one life
	c.thread = uint64(m.TakeNum())
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	method, url, head := m.TakeText(), m.TakeText(), m.TakeHeader()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(m.TakeBytes()))
	if err != nil {
		panic("agent: " + err.Error())
	}
	req.Header = head
	l.calls[c.id] = c
	go func() {
		c.resp, c.err = l.room.handler.GatedTransport(c).RoundTrip(req)
		close(c.done)
	}()
	select {
	case <-c.reached:
		// While a webhook answers, a request of the server waits for this one: it cannot wait for the scheduler.
		if l.renews(c.call) || l.answering && !c.call.Watches {
			l.execute(c.call)
			close(c.on)
			delete(l.calls, c.id)
			return c.reply(l.room.now())
		}
		l.asked = append(l.asked, c.call)
		l.open[c.call] = c
		var park wire.Message
		park.Num(wire.Park)
		return park
	case <-c.done:
		delete(l.calls, c.id)
		return c.reply(l.room.now())
	}
}

// reply is the answer to a call, as a message.
func (c *call) reply(now int64) wire.Message {
	<-c.done
	if c.err != nil {
		panic("agent: a request was not answered: " + c.err.Error())
	}
	m := wire.Command(wire.Reply, now)
	m.Num(c.id)
	m.Num(int64(c.resp.StatusCode))
	m.Header(c.resp.Header)
	streams := c.feed != nil && c.resp.StatusCode == http.StatusOK
	m.Flag(streams)
	if streams {
		return m
	}
	body, err := io.ReadAll(c.resp.Body)
	if err != nil {
		panic("agent: an answer cannot be read: " + err.Error())
	}
	m.Bytes(body)
	return m
}

// drop says that nobody waits for the answer.
func (c *call) drop() {
	c.gone.Store(true)
	c.cancel()
}

// Do is a request that changes or reads objects.
func (c *call) Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	return c.wait(ctx, req, false)
}

// Watch is a request that watches them.
func (c *call) Watch(ctx context.Context, req *fakeapi.Request, f httpapi.Feed) (fakeapi.Response, error) {
	c.feed = f
	return c.wait(ctx, req, true)
}

// Answered notes a query. The life waits for it.
func (c *call) Answered(r *http.Request, obj runtime.Object) {
	c.life.queries = append(c.life.queries, host.QueryOf(r, obj))
}

func (c *call) wait(ctx context.Context, req *fakeapi.Request, watches bool) (fakeapi.Response, error) {
	c.call = host.NewCall(req, watches, c.thread, c.gone.Load)
	close(c.reached)
	select {
	case <-c.on:
		return c.call.Response, nil
	case <-ctx.Done():
		return fakeapi.Response{}, ctx.Err()
	}
}
