package codec

import (
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// Cache keeps the encoded form of recently sent versions of objects, so that an
// event is encoded once for all its watchers. Stored versions never change, so
// neither does what is kept of them. The zero Cache is empty; it may be used by
// several goroutines.
type Cache struct {
	mu    sync.RWMutex
	young map[cacheKey][]byte
	old   map[cacheKey][]byte
	size  int // bytes in young
}

type cacheKey struct {
	obj   runtime.Object // a pointer: the version itself
	media string
}

// cacheSize is how many bytes of encoded objects one of the two generations
// holds.
const cacheSize = 16 << 20

// Encode returns the encoding of a stored version in JSON, with a line feed at
// its end, or protobuf. The bytes are shared: nobody writes to them.
func (c *Cache) Encode(obj runtime.Object, mediaType string) ([]byte, error) {
	key := cacheKey{obj, mediaType}
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
	if mediaType == media.Proto {
		text, err = Proto(obj)
	} else if text, err = json.Marshal(obj); err == nil {
		text = append(text, '\n')
	}
	if err != nil {
		return nil, err
	}
	c.keep(key, text)
	return text, nil
}

func (c *Cache) keep(key cacheKey, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || c.size+len(text) > cacheSize {
		c.old, c.young, c.size = c.young, map[cacheKey][]byte{}, 0
	}
	c.young[key] = text
	c.size += len(text)
}
