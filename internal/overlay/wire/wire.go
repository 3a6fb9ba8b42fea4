// Package wire defines the protocol between a world and the agent in a hosted process. Each sends messages over a pipe.
// The package is compiled into the threelaws command and, as threelaws/wire, into the overlaid standard library.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// Environment is the environment variable that makes a process run the agent. The world sets it to [Version].
const Environment = "THREELAWS_AGENT"

// Life is the environment variable with the number of a process's life in its world. It seeds package initialization.
const Life = "THREELAWS_LIFE"

// Version is the version of the protocol.
const Version = "6"

// Late is the time after which a timer is late. The world settles before a late timer is due, unless it waits for it.
const Late = 5 * time.Minute

// File descriptors of the pipes in the agent's process.
const (
	In  = 3 // commands and replies from the world
	Out = 4 // requests, output and reports to the world
)

// Operations that the world sends. Each comment lists the fields after a colon. The first field of each operation is
// the virtual time in nanoseconds since 1970. The agent moves its clock to this time. When all goroutines wait, it
// sends a [Report].
const (
	Open   = 'O' // begin a world and the program: seed of the bubble, pod name, environment, arguments (or none)
	Reply  = 'A' // answer a request: the request's number, status, headers, whether the body continues, body
	Chunk  = 'C' // continue a body: number of the request, whether this is the end, bytes
	Pass   = 'T' // let time pass until the virtual time of the message, or until a request waits for a Reply
	Call   = 'W' // call a webhook: number, port, server name ("" for plain HTTP), CA bundle, method, URL, headers, body
	Stacks = 'G' // look for deadlocks: whether to print the program's goroutines even without a deadlock
	Close  = 'X' // end the program and the world; the answer is Closed
)

// Park is the response to a request for which the world sends a [Reply] later.
const Park = 'P'

// Operations that the agent sends. Each comment lists the fields after a colon.
const (
	// a request, which the world answers by Park or Reply: number, goroutine, reconcile or 0, method, URL, headers, body
	Ask    = 'Q'
	Answer = 'V' // a webhook answered: number, error ("" for none), status, headers, body
	Output = 'L' // the program wrote to stdout or stderr: bytes
	Report = 'R' // all goroutines wait: time, next and late timer (0: none), whether one needs a mutex, abandoned requests
	Closed = 'Z' // the world has ended: a text about goroutines that the program left behind; "" for none
	Begin  = 'B' // a reconcile begins: number, controller, key
	Saw    = 'K' // a reconcile has read objects from a cache: number, group, kind, list of namespace, name and version
	End    = 'E' // a reconcile has ended: number, whether its key is retried, nanoseconds until the key is reconciled again
	Dump   = 'D' // answers Stacks, before the report: goroutines in a deadlock, goroutines that wait for I/O, stacks
)

// Message is a message without its length prefix. Numbers are varints. A text is its length followed by its bytes.
type Message []byte

// Command returns a message that begins with an operation and the virtual time.
func Command(op byte, now int64) (m Message) {
	m.Num(int64(op))
	m.Num(now)
	return m
}

// Num appends a number.
func (m *Message) Num(n int64) { *m = binary.AppendVarint(*m, n) }

// Texts appends a list of texts.
func (m *Message) Texts(list []string) {
	m.Num(int64(len(list)))
	for _, s := range list {
		m.Text(s)
	}
}

// Flag appends a flag.
func (m *Message) Flag(b bool) {
	n := int64(0)
	if b {
		n = 1
	}
	m.Num(n)
}

// Text appends a text.
func (m *Message) Text(s string) {
	m.Num(int64(len(s)))
	*m = append(*m, s...)
}

// Header appends headers in the order of their names.
func (m *Message) Header(h http.Header) {
	keys := make([]string, 0, len(h))
	n := 0
	for k, values := range h {
		keys = append(keys, k)
		n += len(values)
	}
	slices.Sort(keys)
	m.Num(int64(n))
	for _, k := range keys {
		for _, v := range h[k] {
			m.Text(k)
			m.Text(v)
		}
	}
}

// TakeHeader removes headers from the front.
func (m *Message) TakeHeader() http.Header {
	h := http.Header{}
	for n := m.TakeNum(); n > 0; n-- {
		k := m.TakeText()
		h.Add(k, m.TakeText())
	}
	return h
}

// Bytes appends bytes.
func (m *Message) Bytes(b []byte) {
	m.Num(int64(len(b)))
	*m = append(*m, b...)
}

// TakeNum removes a number from the front.
func (m *Message) TakeNum() int64 {
	n, size := binary.Varint(*m)
	if size <= 0 {
		panic(fmt.Sprintf("wire: a number is cut short: % x", []byte(*m)))
	}
	*m = (*m)[size:]
	return n
}

// TakeFlag removes a flag from the front.
func (m *Message) TakeFlag() bool { return m.TakeNum() == 1 }

// TakeBytes removes a byte slice from the front. The slice is a part of the message, not a copy.
func (m *Message) TakeBytes() []byte {
	n := m.TakeNum()
	if n < 0 || n > int64(len(*m)) {
		panic(fmt.Sprintf("wire: a field of %d bytes in a message of %d", n, len(*m)))
	}
	b := (*m)[:n:n]
	*m = (*m)[n:]
	return b
}

// TakeText removes a text from the front.
func (m *Message) TakeText() string { return string(m.TakeBytes()) }

// Read reads one message.
func Read(r io.Reader) (Message, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	m := make(Message, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, m)
	return m, err
}

// Write writes the length of the message, and the message.
func (m Message) Write(w io.Writer) error {
	whole := binary.BigEndian.AppendUint32(make([]byte, 0, len(m)+4), uint32(len(m)))
	_, err := w.Write(append(whole, m...))
	return err
}
