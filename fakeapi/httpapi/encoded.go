package httpapi

import (
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// encodings keeps the encoded form of recently sent versions of objects, so
// that an event is encoded once for all its watchers. Stored versions never
// change, so neither does what is kept of them.
type encodings struct {
	mu    sync.RWMutex
	young map[encodingKey][]byte
	old   map[encodingKey][]byte
	size  int // bytes in young
}

type encodingKey struct {
	obj   runtime.Object // a pointer: the version itself
	media string
}

// encodingsSize is how many bytes of encoded objects one of the two
// generations holds.
const encodingsSize = 16 << 20

// of returns the encoding of a stored version in JSON, with a line feed at its
// end, or protobuf. The bytes are shared.
func (c *encodings) of(obj runtime.Object, media string) ([]byte, error) {
	key := encodingKey{obj, media}
	c.mu.RLock()
	text, ok := c.young[key]
	if !ok {
		text, ok = c.old[key]
	}
	c.mu.RUnlock()
	if ok {
		return text, nil
	}
	var err error
	if media == protoMedia {
		text, err = encodeProto(obj)
	} else if text, err = json.Marshal(obj); err == nil {
		text = append(text, '\n')
	}
	if err != nil {
		return nil, err
	}
	c.keep(key, text)
	return text, nil
}

func (c *encodings) keep(key encodingKey, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || c.size+len(text) > encodingsSize {
		c.old, c.young, c.size = c.young, map[encodingKey][]byte{}, 0
	}
	c.young[key] = text
	c.size += len(text)
}
