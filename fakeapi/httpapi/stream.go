package httpapi

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
)

// Durations of watches.
const (
	// defaultTimeout is how long a watch lasts that names no timeout.
	defaultTimeout = 30 * time.Minute
	// bookmarkEvery is how often a watch that wants them is sent bookmarks.
	bookmarkEvery = time.Minute
	// lastBookmark is how long before its end a watch is sent the last one.
	lastBookmark = 2 * time.Second
	// writeTimeout is how long a client may leave what it is sent unread
	// before its connection is closed.
	writeTimeout = 10 * time.Second
)

// feed is an open watch: what its client has still to be sent. It pulls from
// the server's log, so that a client that does not read costs nothing but its
// place in the log; when the log has moved on past it, it is sent 410 Expired.
type feed struct {
	h         *Handler
	w         *fakeapi.Watch // nil: nothing ever happens
	kind      *fakeapi.Kind
	f         format
	events    []watch.Event
	headers   bool // the next Table has column definitions
	bookmarks bool
	end       time.Time
	bookmark  time.Time // when the next is due
	frame     [3][]byte // what goes before the object, the object, what goes after it
	head      [32]byte
}

func (h *Handler) newFeed(a *answer) *feed {
	timeout := a.timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	now := time.Now()
	s := &feed{h: h, w: a.watch, kind: a.kind, f: a.format, events: a.first, headers: true, bookmarks: a.bookmarks, end: now.Add(timeout)}
	s.schedule(now)
	return s
}

// schedule sets the time of the next bookmark.
func (s *feed) schedule(now time.Time) {
	s.bookmark = now.Add(bookmarkEvery)
	if last := s.end.Add(-lastBookmark); s.bookmark.After(last) && now.Before(last) {
		s.bookmark = last
	}
}

func (a *answer) streamType() string {
	if a.format.media == protoMedia {
		return protoMedia + ";stream=watch"
	}
	return a.format.media
}

// ready makes the next frame if there is one; otherwise changed is closed when
// there may be, and over says that there will never be one.
func (s *feed) ready() (ok, over bool, changed <-chan struct{}, err error) {
	if len(s.events) == 0 && s.w != nil {
		s.h.mu.Lock()
		s.events = s.w.Next()
		changed = s.h.changed
		s.h.mu.Unlock()
	}
	if len(s.events) == 0 {
		return false, s.w != nil && s.w.Done(), changed, nil
	}
	err = s.encode(&s.events[0])
	s.events[0] = watch.Event{}
	s.events = s.events[1:]
	return true, false, nil, err
}

// wait makes the next frame, when something has happened. It returns io.EOF
// when the watch is over.
func (s *feed) wait(ctx context.Context) error {
	for {
		ok, over, changed, err := s.ready()
		if ok {
			return err
		}
		if over || ctx.Err() != nil {
			return io.EOF
		}
		now := time.Now()
		if !now.Before(s.end) {
			return io.EOF
		}
		next := s.end
		if s.bookmarks && s.bookmark.Before(s.end) && s.w != nil {
			next = s.bookmark
		}
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-changed:
		case <-ctx.Done():
		case <-s.h.closed:
			timer.Stop()
			return io.EOF
		case now := <-timer.C:
			if next != s.end {
				s.mark(now)
			}
		}
		timer.Stop()
	}
}

// mark puts a bookmark at the end of what there is to send.
func (s *feed) mark(now time.Time) {
	s.schedule(now)
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.events = append(s.events, s.w.Next()...)
	if !s.w.Done() {
		s.events = append(s.events, s.w.Bookmark(false))
	}
}

// encode makes the frame of an event. The object's bytes are shared with all
// watches of the same format.
func (s *feed) encode(ev *watch.Event) (err error) {
	raw, err := s.object(ev)
	if err != nil {
		return err
	}
	if s.f.media == protoMedia {
		s.frame[0], s.frame[1], s.frame[2] = protoHead(s.head[:0], string(ev.Type), len(raw)), raw, nil
		return nil
	}
	head := append(s.head[:0], `{"type":"`...)
	head = append(head, ev.Type...)
	s.frame[0] = append(head, `","object":`...)
	s.frame[1] = raw[:len(raw)-1] // without the line feed
	s.frame[2] = closing
	return nil
}

var closing = []byte("}\n")

func (s *feed) object(ev *watch.Event) ([]byte, error) {
	shared := ev.Type != watch.Bookmark && ev.Type != watch.Error
	if s.f.as == "" && shared {
		return s.h.encoded.of(ev.Object, s.f.media)
	}
	obj := ev.Object
	if s.f.as != "" && !isStatus(obj) {
		changed, err := transformObject(s.kind, obj, s.f, s.h.now(), s.headers)
		if err != nil {
			return nil, err
		}
		obj, s.headers = changed, false
	}
	return encodeObject(obj, format{media: s.f.media})
}

// protoHead is what goes before an object of n bytes in a protobuf watch: the
// length of the frame, the event's type, and the tags and lengths of the
// event's object and of its raw bytes.
func protoHead(b []byte, kind string, n int) []byte {
	inner := 1 + varintLen(n) + n
	b = binary.BigEndian.AppendUint32(b, uint32(2+len(kind)+1+varintLen(inner)+inner))
	b = append(b, 0x0a, byte(len(kind)))
	b = append(b, kind...)
	b = binary.AppendUvarint(append(b, 0x12), uint64(inner))
	return binary.AppendUvarint(append(b, 0x0a), uint64(n))
}

func varintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// stream writes a watch to a connection until it ends, its client goes or does
// not read, or its time is up.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a *answer) {
	s := h.newFeed(a)
	w.Header().Set("Content-Type", a.streamType())
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	control.Flush()
	for s.wait(r.Context()) == nil {
		control.SetWriteDeadline(time.Now().Add(h.patience))
		for {
			for _, part := range s.frame {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
			if ok, _, _, err := s.ready(); !ok || err != nil {
				break
			}
		}
		if control.Flush() != nil {
			return
		}
	}
}
