package host

import (
	"fmt"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// The digest of a queue is that of the keys in it, in their order, whatever came
// and went before.
func TestLineTellsQueuesApart(t *testing.T) {
	of := func(keys []string) uint64 {
		l := line{power: 1}
		for _, k := range keys {
			l.push(k)
		}
		return l.sum
	}
	l, keys, seen := line{power: 1}, []string(nil), map[uint64]string{}
	seed := sim.NewSeed(5)
	for range 5000 {
		if len(keys) > 0 && seed.Pick(2, "") == 0 {
			l.pop(keys[0])
			keys = keys[1:]
		} else {
			k := fmt.Sprintf("ns/web-%d", seed.Pick(4, ""))
			l.push(k)
			keys = append(keys, k)
		}
		if l.sum != of(keys) {
			t.Fatalf("%v: %x, made anew %x", keys, l.sum, of(keys))
		}
		text := fmt.Sprint(keys)
		if other, ok := seen[l.sum]; ok && other != text {
			t.Fatalf("%s and %s are one", other, text)
		}
		seen[l.sum] = text
	}
}
