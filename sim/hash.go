package sim

import (
	"math/bits"
	"unsafe"
)

// Hash is a 64-bit digest of words and strings, to compare runs and states of one program. The zero value is ready.
type Hash uint64

func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Mix scrambles a word, so that the sum of mixed words can be the digest of an unordered collection.
func Mix(x uint64) uint64 { return mix(x + 0x9e3779b97f4a7c15) }

// Word folds a word into the hash. The result depends on the order of the words.
func (h *Hash) Word(x uint64) {
	hi, lo := bits.Mul64(uint64(*h)^0xa0761d6478bd642f, x^0xe7037ed1a0b428db)
	*h = Hash(mix(hi ^ lo + x))
}

// String folds a string and the string's length into the hash.
func (h *Hash) String(s string) { h.Word(HashString(s)) }

// Bool folds a truth value into the hash.
func (h *Hash) Bool(b bool) {
	if b {
		h.Word(1)
	} else {
		h.Word(2)
	}
}

// HashString digests one string.
func HashString(s string) uint64 {
	h := uint64(len(s)) ^ 0x8ebc6af09c88c6e3
	for len(s) >= 8 {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = fold(h, w)
		s = s[8:]
	}
	var w uint64
	for i := 0; i < len(s); i++ {
		w |= uint64(s[i]) << (8 * i)
	}
	return mix(fold(h, w))
}

// HashBytes returns the digest that [HashString] returns for the same bytes. It does not copy them.
func HashBytes(b []byte) uint64 { return HashString(unsafe.String(unsafe.SliceData(b), len(b))) }

func fold(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, w^0x589965cc75374cc3)
	return hi ^ lo ^ w
}
