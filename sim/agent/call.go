package agent

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/sim/host"
)

// call is a request of a program. It is the gate of its own transport: the request waits there until the
// scheduler has had it executed and delivers the answer. The transport runs as a coroutine, because to wake a goroutine
// for each request takes longer than the request.
type call struct {
	life   *life
	id     int64
	thread uint64
	call   *host.Call
	feed   httpapi.Feed                    // of a watch
	pass   func() (none struct{}, is bool) // goes on to the gate, and then beyond it
	stop   func()                          // ends it at the gate
	halt   func(struct{}) bool             // waits at the gate; false where nobody waits for the answer
	resp   *http.Response
	err    error
	gone   bool // nobody waits for the answer
}

// ask takes in a request. What is not about objects, as discovery, is answered at once; anything else waits.
func (l *life) ask(m wire.Message) wire.Message {
	c := &call{life: l, id: m.TakeNum()}
	c.thread = l.thread(m.TakeNum())
	method, url, head := m.TakeText(), m.TakeText(), m.TakeHeader()
	req, err := http.NewRequest(method, url, bytes.NewReader(m.TakeBytes()))
	if err != nil {
		panic("agent: " + err.Error())
	}
	req.Header = head
	c.pass, c.stop = iter.Pull(func(halt func(struct{}) bool) {
		c.halt = halt
		c.resp, c.err = l.room.handler.GatedTransport(c).RoundTrip(req)
	})
	if _, waits := c.pass(); !waits {
		return c.reply(l.room.now())
	}
	// While a webhook answers, a request of the server waits for this one: it cannot wait for the scheduler.
	if l.renews(c.call) || l.answering && !c.call.Watches {
		l.execute(c.call)
		return c.reply(l.room.now())
	}
	l.calls[c.id], l.open[c.call] = c, c
	l.asked = append(l.asked, c.call)
	var park wire.Message
	park.Num(wire.Park)
	return park
}

// thread numbers a goroutine. Its own number depends on what ran in the process before.
func (l *life) thread(goroutine int64) uint64 {
	n, known := l.threads[goroutine]
	if !known {
		n = uint64(len(l.threads) + 1)
		l.threads[goroutine] = n
	}
	return n
}

// reply is the answer to a call that has been executed, as a message.
func (c *call) reply(now int64) wire.Message {
	c.pass()
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
	c.gone = true
	c.stop()
}

func (c *call) isGone() bool { return c.gone }

// Do is a request that changes or reads objects.
func (c *call) Do(_ context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	return c.wait(req, false)
}

// Watch is a request that watches them.
func (c *call) Watch(_ context.Context, req *fakeapi.Request, f httpapi.Feed) (fakeapi.Response, error) {
	c.feed = f
	return c.wait(req, true)
}

// Answered notes a query. The life waits for it.
func (c *call) Answered(r *http.Request, obj runtime.Object) {
	c.life.queries = append(c.life.queries, host.QueryOf(r, obj))
}

func (c *call) wait(req *fakeapi.Request, watches bool) (fakeapi.Response, error) {
	c.call = host.NewCall(req, watches, c.thread, c.isGone)
	if !c.halt(struct{}{}) {
		return fakeapi.Response{}, context.Canceled
	}
	return c.call.Response, nil
}
