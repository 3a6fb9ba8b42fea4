package fakeapi

import (
	"encoding/hex"
	"strconv"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxGenerated is the maximum length of a generateName prefix: 63 characters minus five for the suffix.
const maxGenerated = 58

// generate sets a name from generateName. If 1000 names are in use, it sets a used name. Each namespace and prefix has
// its own count, so unrelated creates do not change each other's names. The caller stores the returned count.
func (c *call) generate(t *table, m metav1.Object) tally {
	namespace, prefix := m.GetNamespace(), m.GetGenerateName()
	if len(prefix) > maxGenerated {
		prefix = prefix[:maxGenerated]
	}
	made := t.generated(namespace + "/" + prefix)
	for n := made + 1; ; n++ {
		name := prefix + strconv.Itoa(n)
		if c.s.opts.Name != nil {
			name = c.s.opts.Name(prefix, n)
		}
		if c.s.lookup(t, namespace, name) == nil || n > made+1000 {
			m.SetName(name)
			return tally{key: namespace + "/" + prefix, n: n}
		}
	}
}

// gone returns the number of deleted objects with a key (namespace/name). If ForgetNames has dropped this number, gone
// returns the highest dropped number instead.
func (t *table) gone(key string) int { return count(t.past, key, t.most.past) }

func (t *table) generated(prefix string) int { return count(t.made, prefix, t.most.made) }

// uid returns the UID of the n-th object (from 0) with a key. The UID looks random, but depends only on the arguments.
func uid(k *Kind, key string, n int) types.UID {
	const prime = 1099511628211
	a, b := uint64(14695981039346656037), uint64(0x9e3779b97f4a7c15)
	mix := func(s string) {
		for i := 0; i < len(s); i++ {
			a = (a ^ uint64(s[i])) * prime
		}
		a = (a ^ 0xff) * prime
	}
	mix(k.GVK.Group)
	mix(k.GVK.Kind)
	mix(key)
	a = (a ^ uint64(n)) * prime
	b = scramble(a ^ b)
	a = scramble(a)
	var raw [16]byte
	for i := range 8 {
		raw[i], raw[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return types.UID(text[:])
}

// dryUID returns a UID for a dry run. No object and no other dry run has it.
func (s *Server) dryUID(k *Kind, key string) types.UID {
	s.dry++
	return uid(k, key, -s.dry)
}

// scramble is the last step of the generator SplitMix64. A change of one bit of x changes about half of the result.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unnamed sets the name of an object to an unused UID (see NamesItself). The caller stores the returned count.
func (c *call) unnamed(t *table, m metav1.Object) tally {
	namespace := m.GetNamespace()
	made := tally{key: namespace + "/", n: t.generated(namespace + "/")}
	for {
		m.SetName(string(uid(c.k, c.k.key(namespace, ""), made.n)))
		made.n++
		if c.s.find(t, c.k.key(namespace, m.GetName())) == nil {
			return made
		}
	}
}

// tally is the number of deleted objects with a key, or of generated names with a prefix.
type tally struct {
	key string
	n   int
	at  uint64 // the revision at which n last changed
}

// floors holds the highest counts that ForgetNames has dropped from past and made. They replace missing counts.
type floors struct{ past, made int }

// count returns the number that is stored for a key; floor if none is stored.
func count(of *btree.BTreeG[tally], key string, floor int) int {
	if known, ok := of.Get(tally{key: key}); ok {
		return known.n
	}
	return floor
}

// forget drops the tallies that have not changed since a revision, and returns the highest number among them.
func forget(of *btree.BTreeG[tally], version uint64) (highest int) {
	var old []tally
	of.Ascend(func(c tally) bool {
		if c.at <= version {
			old = append(old, c)
		}
		return true
	})
	for _, c := range old {
		of.Delete(c)
		highest = max(highest, c.n)
	}
	return highest
}
