package httpapi

import (
	"encoding/binary"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// frame is one event on the wire: what goes before the object, the object, what
// goes after it. The object's bytes are shared with all watches of the same
// format.
type frame [3][]byte

// framer makes the frames of one watch, one after the other.
type framer struct {
	h       *Handler
	kind    *fakeapi.Kind
	format  media.Format
	started bool     // the client has the column definitions of its Tables
	head    [32]byte // of the last frame
}

// contentType is the content type of the frames.
func (w *framer) contentType() string {
	if w.format.Type == media.Proto {
		return media.Proto + ";stream=watch"
	}
	return w.format.Type
}

// fill makes f the frame of an event. It is good until the next is made.
func (w *framer) fill(f *frame, ev *watch.Event) error {
	raw, err := w.object(ev)
	if err != nil {
		return err
	}
	if w.format.Type == media.Proto {
		f[0], f[1], f[2] = protoHead(w.head[:0], string(ev.Type), len(raw)), raw, nil
		return nil
	}
	head := append(w.head[:0], `{"type":"`...)
	head = append(head, ev.Type...)
	f[0] = append(head, `","object":`...)
	f[1] = raw[:len(raw)-1] // without the line feed
	f[2] = closing
	return nil
}

var closing = []byte("}\n")

// object encodes the object of an event.
func (w *framer) object(ev *watch.Event) ([]byte, error) {
	stored := ev.Type != watch.Bookmark && ev.Type != watch.Error
	if w.format.As == "" && stored {
		return w.h.encoded.Encode(ev.Object, w.format.Type)
	}
	obj := ev.Object
	if w.format.As != "" && !isStatus(obj) {
		shown, err := objectAs(w.kind, obj, w.format, w.h.now(), !w.started)
		if err != nil {
			return nil, err
		}
		obj, w.started = shown, true
	}
	return codec.Encode(obj, media.Format{Type: w.format.Type})
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
