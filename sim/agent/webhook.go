package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/sim"
)

// webhooks reaches the webhooks of the programs in a room, through their listeners.
func (r *room) webhooks(to httpapi.Webhook) http.RoundTripper { return &route{room: r, to: to} }

type route struct {
	room *room
	to   httpapi.Webhook
}

// RoundTrip calls the webhook in the first process that listens on its port.
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

// port is the port of the program that a webhook is called on.
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
		}
	}
	return port, nil
}

// answersWithin is how much time a webhook may take, on the clock of its process.
const answersWithin = 10 * time.Second

// webhook calls a webhook of the program. It has to answer without any step of the world: one that waits for
// an event has timed out.
func (l *life) webhook(port int64, to httpapi.Webhook, req *http.Request, body []byte) (*http.Response, error) {
	if l.answering {
		return nil, errors.New("a webhook that is called while another of its program answers is not modelled")
	}
	l.called++
	m := wire.Command(wire.Call, l.room.now())
	m.Num(l.called)
	m.Num(port)
	name := ""
	if req.URL.Scheme == "https" {
		name = req.URL.Hostname()
	}
	m.Text(name)
	m.Bytes(to.CABundle)
	m.Text(req.Method)
	m.Text(req.URL.String())
	m.Header(req.Header)
	m.Bytes(body)
	l.answering = true
	alive := l.tell(m)
	for until := l.came + answersWithin; alive && !l.answered() && l.next != 0 && l.next <= until; {
		alive = l.tell(wire.Command(wire.Pass, sim.Epoch.Add(l.next).UnixNano()))
	}
	l.answering = false
	if !alive {
		return nil, io.ErrUnexpectedEOF
	}
	answer, is := l.process.answers[l.called]
	if !is {
		return nil, context.DeadlineExceeded
	}
	delete(l.process.answers, l.called)
	if text := answer.TakeText(); text != "" {
		return nil, errors.New(text)
	}
	code := int(answer.TakeNum())
	resp := &http.Response{StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: answer.TakeHeader(), Request: req}
	resp.Body = io.NopCloser(bytes.NewReader(answer.TakeBytes()))
	return resp, nil
}

// answered reports whether the webhook that was called last has answered.
func (l *life) answered() bool {
	_, is := l.process.answers[l.called]
	return is
}
