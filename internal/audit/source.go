package audit

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// longest is the maximal length of a line. Longer lines are skipped: API servers do not write such lines.
const longest = 64 << 20

const strayLong stray = "lines of more than 64 MB"

// Source merges the events of several files by time. The files may come from several API servers, or from the rotated
// log of one. If a file is not sorted by time, the merged events are not sorted either.
type Source struct {
	Read  int64 // bytes read from disk so far
	Lines int   // lines read so far

	files   []*file
	parser  parser
	skipped map[stray]*Skipped
	notes   []string
	open    []*file // files whose next event is known
	begun   bool
}

// Skipped counts the lines that were skipped for one reason.
type Skipped struct {
	Why   string `json:"why"`
	Count int    `json:"count"`
	First string `json:"first"` // the position of the first such line: "audit.log:12"
}

func (s *Skipped) String() string {
	return fmt.Sprintf("skipped: %s: %d, the first at %s", s.Why, s.Count, s.First)
}

type file struct {
	name   string
	from   io.Reader
	lines  *bufio.Reader
	buffer []byte
	line   int
	events int // number of lines that are events
	stream io.Closer
	next   *event
	last   time.Time // time of the last event
}

// NewSource returns a source without files.
func NewSource() *Source {
	return &Source{parser: parser{names: names{}}, skipped: map[stray]*Skipped{}}
}

// Open adds a file. The file may be compressed with gzip.
func (s *Source) Open(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return bare(name, err)
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		f.Close()
		if err == nil {
			err = errors.New("a directory; name the files in it")
		}
		return bare(name, err)
	}
	if err := s.Add(name, f); err != nil {
		f.Close()
		return err
	}
	s.files[len(s.files)-1].stream = f
	return nil
}

// Add adds a reader. Its data may be compressed with gzip.
func (s *Source) Add(name string, r io.Reader) error {
	in := bufio.NewReaderSize(&counted{r, &s.Read}, 1<<18)
	f := &file{name: name, from: in, lines: in}
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return bare(name, err)
		}
		f.lines = bufio.NewReaderSize(z, 1<<20)
	}
	s.files = append(s.files, f)
	return nil
}

// bare returns the error with the file's name only at the beginning.
func bare(name string, err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

type counted struct {
	io.Reader
	n *int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	*c.n += int64(n)
	return n, err
}

// next returns the next event, or nil at the end.
func (s *Source) next() (e *event, err error) {
	if !s.begun {
		s.begun = true
		for _, f := range s.files {
			if err := s.advance(f); err != nil {
				return nil, err
			}
			if f.next != nil {
				s.open = append(s.open, f)
			}
		}
	}
	if len(s.open) == 0 {
		return nil, nil
	}
	first := 0
	for i, f := range s.open {
		if f.next.at.Before(s.open[first].next.at) {
			first = i
		}
	}
	f := s.open[first]
	e = f.next
	if err := s.advance(f); err != nil {
		return nil, err
	}
	if f.next == nil {
		s.open = append(s.open[:first], s.open[first+1:]...)
	}
	return e, nil
}

// advance reads a file until the next relevant event.
func (s *Source) advance(f *file) error {
	f.next = nil
	for {
		line, err := f.read()
		if len(line) > 0 || err == bufio.ErrTooLong {
			f.line++
			s.Lines++
		}
		if err == bufio.ErrTooLong {
			s.skip(strayLong, f)
			f.next = &event{doubt: true, at: f.last}
			return nil
		}
		if len(bytes.TrimSpace(line)) > 0 {
			e, why := s.parser.parse(line)
			if why != straySilent {
				s.skip(why, f)
			}
			if why == straySilent || why == strayStage {
				f.events++
			}
			if e == nil && why == strayBroken {
				e = &event{doubt: true}
			}
			if e != nil {
				if f.next = e; why == strayBroken {
					e.at = f.last
				}
				f.last = e.at
				return nil
			}
		}
		if err != nil {
			return s.close(f, err)
		}
	}
}

// close closes a file. A file that has lines, but no audit event, is an error.
func (s *Source) close(f *file, err error) error {
	if f.stream != nil {
		f.stream.Close()
	}
	if err != io.EOF {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the gzip stream is cut off")
		}
		s.notes = append(s.notes, fmt.Sprintf("%s:%d: %v; judged up to there", f.name, f.line, err))
	}
	switch {
	case f.events > 0:
	case f.line == 0:
		s.notes = append(s.notes, f.name+": it is empty")
	default:
		return fmt.Errorf("%s: not an audit log: none of its %d lines is an audit.k8s.io/v1 event in JSON", f.name,
			f.line)
	}
	return nil
}

// read returns the next line, valid until the next call.
func (f *file) read() ([]byte, error) {
	line, err := f.lines.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	f.buffer = f.buffer[:0]
	for err == bufio.ErrBufferFull {
		if len(f.buffer) < longest {
			f.buffer = append(f.buffer, line...)
		}
		line, err = f.lines.ReadSlice('\n')
	}
	if len(f.buffer) >= longest {
		return nil, bufio.ErrTooLong
	}
	f.buffer = append(f.buffer, line...)
	return f.buffer, err
}

func (s *Source) skip(why stray, f *file) {
	k := s.skipped[why]
	if k == nil {
		k = &Skipped{Why: string(why), First: fmt.Sprintf("%s:%d", f.name, f.line)}
		s.skipped[why] = k
	}
	k.Count++
}

// Size returns the size of a file in bytes, or 0 if it is unknown.
func Size(name string) int64 {
	info, err := os.Stat(name)
	if err != nil || strings.HasPrefix(name, "-") {
		return 0
	}
	return info.Size()
}

// The sizes of the two sorting windows, in events. An API server logs a request when it is answered. So the lines of
// concurrent requests can be in another order than their resource versions.
const (
	timeWindow    = 2048
	versionWindow = 512
)

// sorter sorts events by the resource version that each write made. An event without a version, such as a read, gets
// the highest version of the events that were earlier in time.
//
// The first window sorts by time, to place the events without a version. The second window sorts by version. Versions
// of two etcds cannot be compared, but the order of the events of each etcd is right.
type sorter struct {
	byTime    queue
	byVersion queue
	latest    uint64
	n         uint64
}

// queue is a heap of events. The root is the next event.
type queue struct {
	events []*queued
	less   func(a, b *queued) bool
}

// queued is an event in a queue, with its arrival number.
type queued struct {
	*event
	n uint64
}

func newSorter() *sorter {
	return &sorter{
		byTime: queue{less: func(a, b *queued) bool {
			if !a.at.Equal(b.at) {
				return a.at.Before(b.at)
			}
			return a.n < b.n
		}},
		byVersion: queue{less: func(a, b *queued) bool {
			if a.order != b.order {
				return a.order < b.order
			}
			return a.n < b.n
		}},
	}
}

// add adds an event, and calls next with the events that leave the second window.
func (s *sorter) add(e *event, next func(*event)) {
	s.n++
	heap.Push(&s.byTime, &queued{e, s.n})
	if s.byTime.Len() > timeWindow {
		s.timed(next, versionWindow)
	}
}

// timed moves one event from the first window to the second. Then it calls next for each event that no longer fits.
func (s *sorter) timed(next func(*event), window int) {
	q := heap.Pop(&s.byTime).(*queued)
	if q.order == 0 {
		q.order = s.latest
	}
	s.latest = max(s.latest, q.order)
	s.n++
	q.n = s.n
	heap.Push(&s.byVersion, q)
	for s.byVersion.Len() > window {
		next(heap.Pop(&s.byVersion).(*queued).event)
	}
}

// end calls next with all remaining events.
func (s *sorter) end(next func(*event)) {
	for s.byTime.Len() > 0 {
		s.timed(next, versionWindow)
	}
	for s.byVersion.Len() > 0 {
		next(heap.Pop(&s.byVersion).(*queued).event)
	}
}

func (q *queue) Len() int           { return len(q.events) }
func (q *queue) Less(i, k int) bool { return q.less(q.events[i], q.events[k]) }
func (q *queue) Swap(i, k int)      { q.events[i], q.events[k] = q.events[k], q.events[i] }
func (q *queue) Push(x any)         { q.events = append(q.events, x.(*queued)) }

func (q *queue) Pop() any {
	last := len(q.events) - 1
	x := q.events[last]
	q.events[last] = nil
	q.events = q.events[:last]
	return x
}
