package crdschema

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// Memo keeps what was made of a schema. Compiling the rules of one takes milliseconds,
// and a world is begun from nothing many times: in every schedule that is explored. What
// is kept has to be a function of the schema alone, and may not be changed. The zero
// value is ready, and servers share it.
type Memo[T any] struct {
	mu   sync.Mutex
	made map[[sha256.Size]byte]T
	keys [][sha256.Size]byte // oldest first
}

// mostMade is how many results are kept: the oldest is forgotten first.
const mostMade = 256

// Of is what make makes of a schema, at a place in a definition.
func (m *Memo[T]) Of(schema any, at string, make func() T) T {
	text, err := json.Marshal(schema)
	if err != nil {
		panic("fakeapi: a schema does not encode: " + err.Error())
	}
	key := sha256.Sum256(append(text, at...))
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := m.made[key]; ok {
		return made
	}
	made := make()
	if m.made == nil {
		m.made = map[[sha256.Size]byte]T{}
	}
	m.made[key] = made
	if m.keys = append(m.keys, key); len(m.keys) > mostMade {
		delete(m.made, m.keys[0])
		m.keys = m.keys[1:]
	}
	return made
}
