package httpapi

import (
	"encoding/binary"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/table"
)

// body encodes a response, and returns its content type. If the encoding fails, it encodes the error.
func (h *Handler) body(a *answer) ([]byte, string) {
	body, contentType, err := h.encode(a)
	if err != nil {
		*a = *fail(a.format, err)
		if body, contentType, err = h.encode(a); err != nil {
			panic("httpapi: a Status does not encode: " + err.Error())
		}
	}
	return body, contentType
}

// encode returns the body and its content type. The bytes may be shared and must not be changed.
func (h *Handler) encode(a *answer) ([]byte, string, error) {
	switch {
	case a.binary != nil:
		return a.binary, a.contentType, nil
	case a.raw != nil:
		body, err := codec.Text(a.raw, a.format)
		if a.contentType != "" {
			return body, a.contentType, err
		}
		return body, a.format.Type, err
	case a.object == nil && a.list == nil:
		return []byte(a.text), "text/plain; charset=utf-8", nil
	}
	obj, stored, err := h.transform(a)
	if err != nil {
		return nil, "", err
	}
	if stored && !a.format.Pretty && a.format.Type != media.YAML {
		body, err := h.encoded.Encode(obj, a.format.Type)
		return body, a.format.Type, err
	}
	body, err := codec.Encode(obj, a.format)
	return body, a.format.Type, err
}

// transform returns the object or list to send, for example as a Table. stored is set if the result is a stored object.
func (h *Handler) transform(a *answer) (obj runtime.Object, stored bool, err error) {
	f := a.format
	switch {
	case a.list != nil:
		obj, err = listAs(a.kind, a.list, f, h.now())
		return obj, false, err
	case f.As == "" || isStatus(a.object):
		return a.object, a.code == http.StatusOK || a.code == http.StatusCreated, nil
	}
	obj, err = objectAs(a.kind, a.object, f, h.now(), true)
	return obj, false, err
}

func isStatus(obj runtime.Object) bool {
	_, ok := obj.(*metav1.Status)
	return ok
}

// listAs returns a list as the client requested it: as the kind's list type, a Table, or a PartialObjectMetadataList.
func listAs(k *fakeapi.Kind, r *fakeapi.Response, f media.Format, now time.Time) (runtime.Object, error) {
	switch f.As {
	case "":
		return k.MakeList(*r), nil
	case media.AsTable:
		return table.List(k, r, f, now)
	case media.AsPartialList:
		return table.PartialList(r, f), nil
	}
	return nil, refusal.NotList(f.As, k.GVK, true, custom(k))
}

func custom(k *fakeapi.Kind) bool {
	crd, _ := k.Definition()
	return crd != nil
}

// objectAs returns an object as the client requested it: as a Table or as PartialObjectMetadata.
func objectAs(
	k *fakeapi.Kind, obj runtime.Object, f media.Format, now time.Time, headers bool,
) (runtime.Object, error) {
	switch f.As {
	case media.AsTable:
		return table.One(k, obj, f, now, headers)
	case media.AsPartial:
		return table.Partial(obj, f), nil
	}
	return nil, refusal.NotList(f.As, k.GVK, false, custom(k))
}

type frame [3][]byte

type framer struct {
	h       *Handler
	kind    *fakeapi.Kind
	format  media.Format
	started bool     // the client has received the column definitions of a Table
	head    [32]byte // memory for the part of a frame before the object
}

func (w *framer) contentType() string {
	if w.format.Type == media.Proto {
		return media.Proto + ";stream=watch"
	}
	return w.format.Type
}

// fill encodes an event into f. The frame is valid until the next call.
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
	f[1] = raw[:len(raw)-1] // without the line feed at the end
	f[2] = closing
	return nil
}

var closing = []byte("}\n")

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

// frameLength is the number of bytes that hold the length of a protobuf frame.
const frameLength = 4

// protoHead returns the bytes that come before an object of n bytes in a protobuf watch. They contain the length of the
// frame, the event's type (kind), and the object's tag and length.
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
