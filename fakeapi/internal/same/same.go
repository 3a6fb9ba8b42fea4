// Package same compares objects, and parts of objects such as their specs.
package same

import (
	"bytes"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// Encoded is an object or a part, such as a PodSpec, with a deterministic encoding. The real server stores the
// encoding. It compares encodings to find out whether an update changes the object.
type Encoded interface {
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

type buffers struct{ a, b []byte }

var spareBuffers = sync.Pool{New: func() any { return new(buffers) }}

// Encoding reports whether two values of one type have the same encoding.
func Encoding(a, b Encoded) bool {
	same, _ := encoding(a, b)
	return same
}

// encoding does the same as Encoding, and also returns the length of the encoding of a.
func encoding(a, b Encoded) (same bool, size int) {
	size = a.Size()
	if size != b.Size() {
		return false, size
	}
	spare := spareBuffers.Get().(*buffers)
	spare.a, spare.b = encodeTo(a, size, spare.a), encodeTo(b, size, spare.b)
	same = bytes.Equal(spare.a, spare.b)
	spareBuffers.Put(spare)
	return same, size
}

func encodeTo(v Encoded, size int, buf []byte) []byte {
	if cap(buf) < size {
		buf = make([]byte, 2*size)
	}
	buf = buf[:size]
	if _, err := v.MarshalToSizedBuffer(buf); err != nil {
		panic("fakeapi: an object does not encode: " + err.Error())
	}
	return buf
}

// Value reports whether two values are equal. If their encodings differ, it compares them semantically, because a
// quantity can be written in several ways.
func Value(a, b Encoded) bool { return Encoding(a, b) || equality.Semantic.DeepEqual(a, b) }

// Object reports whether two objects have the same encoding, and returns the length of the encoding of a. It compares
// objects without encodings field by field. Then the length is 0.
func Object(a, b runtime.Object) (same bool, size int) {
	x, typed := a.(Encoded)
	y, both := b.(Encoded)
	if typed && both {
		return encoding(x, y)
	}
	return equality.Semantic.DeepEqual(a, b), 0
}
