package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// call is one HTTP request of a program. The HTTP handler runs as a coroutine, because waking a goroutine for each
// request would take longer than the request. The coroutine pauses in the method wait, until the scheduler has executed
// the request.
type call struct {
	life   *life
	id     int64
	thread uint64
	number int64 // the reconcile to which the request belongs; 0 for none
	call   *host.Call
	feed   httpapi.Feed                    // the event stream, if the request is a watch
	pass   func() (none struct{}, is bool) // runs the coroutine until it pauses or ends
	stop   func()                          // ends the paused coroutine
	halt   func(struct{}) bool             // pauses the coroutine; returns false if the caller no longer waits
	resp   *http.Response
	err    error
	gone   bool // the caller no longer waits for the answer

	reports bool // the call writes an Event, and only time was its cause
}

// ask handles a request. Requests that are not about objects, such as discovery, do not wait for the scheduler.
func (l *life) ask(m wire.Message) wire.Message {
	c := &call{life: l, id: m.TakeNum()}
	c.thread = l.thread(m.TakeNum())
	c.number = m.TakeNum()
	method, url, head := m.TakeText(), m.TakeText(), m.TakeHeader()
	req, err := http.NewRequest(method, url, bytes.NewReader(m.TakeBytes()))
	if err != nil {
		panic("agent: " + err.Error())
	}
	req.Header = head
	// client-go sends no token without TLS
	if own := head.Get("Authorization"); (own == "" || own == "Bearer "+token) && head.Get("Impersonate-User") == "" &&
		l.binary.Account != "" {
		req.Header.Set("Impersonate-User", fakeapi.AccountName(l.binary.namespace(), l.binary.Account))
	}
	c.pass, c.stop = iter.Pull(func(halt func(struct{}) bool) {
		c.halt = halt
		c.resp, c.err = l.room.handler.GatedTransport(c).RoundTrip(req)
	})
	if _, waits := c.pass(); !waits {
		return c.reply(l.room.now())
	}
	if l.renews(c.call) {
		l.asking = true
		l.execute(c.call)
		l.asking = false
		return c.reply(l.room.now())
	}
	c.reports = l.passing && quiet.Reports(c.call.Request)
	l.calls[c.id], l.open[c.call] = c, c
	if l.answering > 0 && !c.call.Watches {
		l.inner = append(l.inner, c)
	} else {
		l.asked = append(l.asked, c.call)
	}
	var park wire.Message
	park.Num(wire.Park)
	return park
}

// thread returns the number of a goroutine. Goroutines are numbered in the order of the first requests of a life. Go's
// own IDs also depend on earlier lives in the process.
func (l *life) thread(goroutine int64) uint64 {
	n, known := l.threads[goroutine]
	if !known {
		n = uint64(len(l.threads) + 1)
		l.threads[goroutine] = n
	}
	return n
}

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

// drop records that the caller no longer waits for the answer, and ends the coroutine.
func (c *call) drop() {
	c.gone = true
	c.stop()
}

func (c *call) isGone() bool { return c.gone }

func (c *call) Do(_ context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	return c.wait(req, false)
}

func (c *call) Watch(_ context.Context, req *fakeapi.Request, f httpapi.Feed) (fakeapi.Response, error) {
	c.feed = f
	return c.wait(req, true)
}

func (c *call) Answered(r *http.Request, obj runtime.Object) {
	c.life.queries = append(c.life.queries, host.QueryOf(r, obj))
}

func (c *call) wait(req *fakeapi.Request, watches bool) (fakeapi.Response, error) {
	c.call = host.NewCall(req, watches, c.thread, c.isGone)
	c.call.Reconcile = c.number
	if !c.halt(struct{}{}) {
		return fakeapi.Response{}, context.Canceled
	}
	return c.call.Response, nil
}

// webhooks returns a transport that passes the API server's webhook calls to the programs of the world.
func (r *room) webhooks(to httpapi.Webhook) http.RoundTripper { return &route{room: r, to: to} }

type route struct {
	room *room
	to   httpapi.Webhook
}

// RoundTrip calls the webhook in the first process that listens on the webhook's port.
func (t *route) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	for _, l := range t.room.lives {
		port, err := t.port(l.binary, req.URL)
		if err != nil {
			return nil, err
		}
		resp, err := l.webhook(port, t.to, req, body)
		if err == nil || !strings.Contains(err.Error(), syscall.ECONNREFUSED.Error()) {
			return resp, err
		}
	}
	return nil, errors.New("dial tcp " + req.URL.Host + ": connect: " + syscall.ECONNREFUSED.Error())
}

// port returns the program's port for a webhook URL. If the URL names a Service, it is the Service's target port.
func (t *route) port(b *Binary, u *url.URL) (int64, error) {
	named := u.Port()
	if named == "" {
		named = "443"
	}
	port, err := strconv.ParseInt(named, 10, 32)
	if err != nil || !t.to.Service {
		return port, err
	}
	name, rest, _ := strings.Cut(u.Hostname(), ".")
	namespace, _, _ := strings.Cut(rest, ".")
	server := t.room.place.Server()
	svc, is := server.Lookup(server.KindNamed("service"), namespace, name).(*corev1.Service)
	if !is {
		return 0, t.to.Unresolved
	}
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		switch {
		case int64(p.Port) != port:
		case p.TargetPort.StrVal != "":
			return b.Ports[p.TargetPort.StrVal], nil
		case p.TargetPort.IntVal != 0:
			return int64(p.TargetPort.IntVal), nil
		default:
			return port, nil
		}
	}
	return 0, t.to.Unresolved
}

// answersWithin is the time limit of a webhook, measured by the clock of its process.
const answersWithin = 10 * time.Second

// deepest is the number of webhooks of a program that may answer at a time. Each one but the first is called because of a
// request of the one before.
const deepest = 10

// webhook calls a webhook of the program. No step of the world runs during the call, so a webhook that waits for an
// event times out. The server waits too, so it executes the requests of the program at once.
func (l *life) webhook(port int64, to httpapi.Webhook, req *http.Request, body []byte) (*http.Response, error) {
	switch {
	case l.asking:
		return nil, errors.New("a webhook for the renewal of a leader election lock is not modelled")
	case l.answering == deepest:
		return nil, fmt.Errorf("%d webhooks of the program answer already, each because of a request of the one before", deepest)
	}
	l.called++
	call := l.called
	m := wire.Command(wire.Call, l.room.now())
	m.Num(call)
	m.Num(port)
	name := ""
	if req.URL.Scheme == "https" {
		name = req.URL.Hostname()
	}
	m.Text(name)
	bundle := to.CABundle
	if len(bytes.TrimSpace(bundle)) == 0 {
		bundle = []byte(Authority) // cert-manager would set it in a configuration that the program has created
	}
	m.Bytes(bundle)
	m.Text(req.Method)
	m.Text(req.URL.String())
	m.Header(req.Header)
	m.Bytes(body)
	l.answering++
	alive := l.tell(m)
	for until := l.came + answersWithin; alive && !l.answered(call) && (len(l.inner) > 0 || l.next != 0 && l.next <= until); {
		if len(l.inner) > 0 {
			alive = l.executeInner()
			continue
		}
		alive = l.tell(wire.Command(wire.Pass, sim.Epoch.Add(l.next).UnixNano()))
	}
	if l.answering--; l.answering == 0 {
		for _, c := range l.inner { // the webhook has answered without waiting for these
			l.asked = append(l.asked, c.call)
		}
		l.inner = nil
	}
	if panics := (*host.Panic)(nil); !alive && errors.As(l.err, &panics) {
		return nil, errors.New("panic: " + panics.Text)
	} else if !alive {
		return nil, io.ErrUnexpectedEOF
	}
	answer, is := l.process.answers[call]
	if !is {
		return nil, context.DeadlineExceeded
	}
	delete(l.process.answers, call)
	if text := answer.TakeText(); text != "" {
		return nil, errors.New(text)
	}
	code := int(answer.TakeNum())
	resp := &http.Response{StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: answer.TakeHeader(), Request: req}
	resp.Body = io.NopCloser(bytes.NewReader(answer.TakeBytes()))
	return resp, nil
}

// executeInner executes a request that the program has made while one of its webhooks answers. It returns false if the
// process has ended.
func (l *life) executeInner() bool {
	c := l.inner[0]
	l.inner = l.inner[1:]
	if c.gone {
		return true
	}
	l.execute(c.call)
	if l.process == nil {
		return false
	}
	delete(l.open, c.call)
	delete(l.calls, c.id)
	return l.tell(c.reply(l.room.now()))
}

func (l *life) answered(call int64) bool {
	_, is := l.process.answers[call]
	return is
}
