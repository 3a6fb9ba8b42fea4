package campaign

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
)

const mostMembers = 1 << 20

// Set is a set of 64-bit hashes in bounded memory. It is exact up to a million members. A larger set stores only the
// million smallest; [Set.Len] then estimates the number of members with an error of about 0.1 %. The stored hashes and
// the estimate depend only on which hashes were added, not on their order or grouping.
type Set struct {
	least []uint64 // mix(h) of each stored hash h, in ascending order
	cut   bool     // some larger hashes are not stored
}

// Add adds hashes.
func (s *Set) Add(hashes []uint64) {
	mixed := make([]uint64, len(hashes))
	for i, h := range hashes {
		mixed[i] = mix(h)
	}
	slices.Sort(mixed)
	s.union(mixed, false)
}

// Join adds the members of another set.
func (s *Set) Join(other Set) { s.union(other.least, other.cut) }

// union adds the sorted values in other to s.least. cut means that other comes from a set that lacks larger members.
func (s *Set) union(other []uint64, cut bool) {
	s.cut = s.cut || cut
	if len(other) == 0 || s.cut && len(s.least) == mostMembers && other[0] > s.least[mostMembers-1] {
		return
	}
	all := make([]uint64, 0, min(len(s.least)+len(other), mostMembers+1))
	for i, j := 0, 0; i < len(s.least) || j < len(other); {
		var next uint64
		switch {
		case j == len(other) || i < len(s.least) && s.least[i] < other[j]:
			next = s.least[i]
			i++
		default:
			next = other[j]
			j++
		}
		if n := len(all); n > 0 && all[n-1] == next {
			continue
		}
		if len(all) == mostMembers {
			s.cut = true
			break
		}
		all = append(all, next)
	}
	s.least = all
}

// Len returns the number of members, and whether this number is exact.
func (s *Set) Len() (n int, exact bool) {
	if !s.cut {
		return len(s.least), true
	}
	k := len(s.least)
	return int(float64(k-1) / (float64(s.least[k-1]) / math.MaxUint64)), false
}

// mix is a bijection that spreads hashes evenly.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// IsZero reports whether the set is empty.
func (s Set) IsZero() bool { return len(s.least) == 0 }

// MarshalJSON encodes the members as base64. The prefix "~" means that larger hashes were dropped.
func (s Set) MarshalJSON() ([]byte, error) {
	text := Words(s.least).text()
	if s.cut {
		text = "~" + text
	}
	return json.Marshal(text)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (s *Set) UnmarshalJSON(data []byte) error {
	if s.cut = len(data) > 1 && data[1] == '~'; s.cut {
		data = append([]byte{'"'}, data[2:]...)
	}
	err := (*Words)(&s.least).UnmarshalJSON(data)
	if err == nil && (!slices.IsSorted(s.least) || len(s.least) > mostMembers || s.cut && len(s.least) < 2) {
		err = errors.New("not a set of hashes")
	}
	return err
}

// Words is a list of 64-bit numbers. Its JSON form is a base64 string.
type Words []uint64

func (w Words) text() string {
	data := make([]byte, 0, 8*len(w))
	for _, x := range w {
		data = binary.LittleEndian.AppendUint64(data, x)
	}
	return base64.RawStdEncoding.EncodeToString(data)
}

// MarshalJSON encodes the words.
func (w Words) MarshalJSON() ([]byte, error) { return json.Marshal(w.text()) }

// UnmarshalJSON decodes the words.
func (w *Words) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return errors.New("not a list of numbers in base64")
	}
	raw := make([]byte, base64.RawStdEncoding.DecodedLen(len(data)-2))
	if _, err := base64.RawStdEncoding.Decode(raw, data[1:len(data)-1]); err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return errors.New("not a list of numbers in base64")
	}
	*w = make(Words, len(raw)/8)
	for i := range *w {
		(*w)[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return nil
}
