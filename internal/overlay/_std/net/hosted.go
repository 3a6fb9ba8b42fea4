package net

import (
	"context"
	"internal/hosted"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
	_ "unsafe" // for linkname
)

// hostedRefused is the error for a real socket in a hosted process.
var hostedRefused = os.NewSyscallError("socket", syscall.ECONNREFUSED)

type hostedListener struct {
	key   string
	addr  Addr
	conns chan Conn
	done  chan struct{}
	once  sync.Once
}

var (
	hostedMu        sync.Mutex
	hostedListeners = map[string]*hostedListener{}
	hostedPort      = 49152 // the last port that was assigned to a listener
)

// hostedClose removes all listeners, so that every program starts in the same state.
//
//go:linkname hostedClose threelaws/agent.closeListeners
func hostedClose() {
	hostedMu.Lock()
	defer hostedMu.Unlock()
	clear(hostedListeners)
	hostedPort = 49152
}

func hostedListen(network, address string) (Listener, error) {
	fail := func(err error) (Listener, error) { return nil, &OpError{Op: "listen", Net: network, Err: err} }
	l := &hostedListener{conns: make(chan Conn), done: make(chan struct{})}
	hostedMu.Lock()
	defer hostedMu.Unlock()
	switch network {
	case "tcp", "tcp4", "tcp6":
		host, port, err := SplitHostPort(address)
		if err != nil {
			return fail(err)
		}
		n, err := LookupPort(network, port)
		if err != nil {
			return fail(err)
		}
		if n == 0 {
			hostedPort++
			n = hostedPort
		}
		ip := ParseIP(host)
		if ip == nil {
			ip = IPv4(127, 0, 0, 1)
		}
		l.key, l.addr = "tcp:"+strconv.Itoa(n), &TCPAddr{IP: ip, Port: n}
	case "unix":
		l.key, l.addr = "unix:"+address, &UnixAddr{Name: address, Net: network}
	default:
		return fail(UnknownNetworkError(network))
	}
	if hostedListeners[l.key] != nil {
		return fail(os.NewSyscallError("bind", syscall.EADDRINUSE))
	}
	hostedListeners[l.key] = l
	return l, nil
}

func (l *hostedListener) Accept() (Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, &OpError{Op: "accept", Net: l.addr.Network(), Addr: l.addr, Err: ErrClosed}
	}
}

func (l *hostedListener) Close() error {
	l.once.Do(func() {
		hostedMu.Lock()
		if hostedListeners[l.key] == l { // a later program may have a listener with this address
			delete(hostedListeners, l.key)
		}
		hostedMu.Unlock()
		close(l.done)
	})
	return nil
}

func (l *hostedListener) Addr() Addr { return l.addr }

// hostedDial connects to a listener of this process. It refuses connections to other addresses.
func hostedDial(ctx context.Context, network, address string) (Conn, error) {
	fail := func(err error) (Conn, error) { return nil, &OpError{Op: "dial", Net: network, Err: err} }
	key := network + ":" + address
	switch network {
	case "tcp", "tcp4", "tcp6":
		host, port, err := SplitHostPort(address)
		if err != nil {
			return fail(err)
		}
		n, err := LookupPort(network, port)
		if err != nil {
			return fail(err)
		}
		if host != "" {
			ips, err := hostedLookup(host)
			if err != nil && ParseIP(host) == nil {
				return fail(err)
			}
			local := ParseIP(host).IsLoopback() || ParseIP(host).IsUnspecified() || len(ips) > 0 && ips[0].IP.IsLoopback()
			if !local {
				return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
			}
		}
		key = "tcp:" + strconv.Itoa(n)
	}
	hostedMu.Lock()
	l := hostedListeners[key]
	hostedMu.Unlock()
	if l == nil {
		return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	there, here := newHostedQueue(), newHostedQueue()
	at := &TCPAddr{IP: IPv4(127, 0, 0, 1), Port: 49152}
	select {
	case l.conns <- &hostedConn{in: there, out: here, local: l.addr, remote: at}:
		return &hostedConn{in: here, out: there, local: at, remote: l.addr}, nil
	case <-l.done:
		return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case <-ctx.Done():
		return fail(mapErr(ctx.Err()))
	}
}

// hostedLookup resolves only localhost, the host name of this process, and the API server's Service.
func hostedLookup(host string) ([]IPAddr, error) {
	if name, _ := os.Hostname(); host == "localhost" || host == name {
		return []IPAddr{{IP: IPv4(127, 0, 0, 1)}}, nil
	}
	if hosted.IsService(host) {
		return []IPAddr{{IP: ParseIP(hosted.Address)}}, nil
	}
	return nil, newDNSError(errNoSuchHost, host, "")
}

// hostedCNAME returns the full name of a host that hostedLookup resolves. Programs read the domain of the cluster from it.
func hostedCNAME(host string) (string, error) {
	if hosted.IsService(host) {
		return hosted.Service, nil
	}
	return "", newDNSError(errNoSuchHost, host, "")
}

func hostedLookupHost(host string) ([]string, error) {
	addresses, err := hostedLookup(host)
	if err != nil {
		return nil, err
	}
	return []string{addresses[0].String()}, nil
}

type hostedConn struct {
	in, out       *hostedQueue
	local, remote Addr
}

func (c *hostedConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	if err != nil && err != io.EOF {
		err = &OpError{Op: "read", Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
	}
	return n, err
}

func (c *hostedConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	if err != nil {
		err = &OpError{Op: "write", Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
	}
	return n, err
}

func (c *hostedConn) Close() error {
	c.in.end(&c.in.readerClosed)
	c.out.end(&c.out.writerClosed)
	return nil
}

func (c *hostedConn) LocalAddr() Addr                    { return c.local }
func (c *hostedConn) RemoteAddr() Addr                   { return c.remote }
func (c *hostedConn) SetReadDeadline(t time.Time) error  { c.in.expire(&c.in.readBy, t); return nil }
func (c *hostedConn) SetWriteDeadline(t time.Time) error { c.out.expire(&c.out.writeBy, t); return nil }

func (c *hostedConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// hostedQueue is one direction of a connection. It has no maximal size.
type hostedQueue struct {
	mu      sync.Mutex
	changed *sync.Cond
	data    []byte

	readerClosed, writerClosed bool
	readBy, writeBy            time.Time
}

func newHostedQueue() *hostedQueue {
	q := &hostedQueue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

func expired(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

func (q *hostedQueue) read(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.readerClosed:
			return 0, ErrClosed
		case expired(q.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case len(q.data) > 0:
			n := copy(b, q.data)
			q.data = q.data[n:]
			return n, nil
		case q.writerClosed:
			return 0, io.EOF
		}
		q.changed.Wait()
	}
}

func (q *hostedQueue) write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.writerClosed:
		return 0, ErrClosed
	case q.readerClosed:
		return 0, os.NewSyscallError("write", syscall.EPIPE)
	case expired(q.writeBy):
		return 0, os.ErrDeadlineExceeded
	}
	q.data = append(q.data, b...)
	q.changed.Broadcast()
	return len(b), nil
}

func (q *hostedQueue) end(flag *bool) {
	q.mu.Lock()
	*flag = true
	q.mu.Unlock()
	q.changed.Broadcast()
}

func (q *hostedQueue) expire(deadline *time.Time, t time.Time) {
	q.mu.Lock()
	*deadline = t
	q.mu.Unlock()
	q.changed.Broadcast()
	if d := time.Until(t); !t.IsZero() && d > 0 {
		time.AfterFunc(d, q.changed.Broadcast)
	}
}
