package campaign

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is part I of the N parts of an exploration. I counts from 0. The zero value is the whole exploration.
type Shard struct{ I, N int }

// ParseShard reads "i/n". The empty text is the whole exploration.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	first, last, _ := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(last)
	switch {
	case err1 != nil || err2 != nil:
		return Shard{}, fmt.Errorf("%q is not a shard: write i/n, as in 0/8", text)
	case n < 1:
		return Shard{}, fmt.Errorf("%s: the number of shards is at least 1", text)
	case i < 0 || i >= n:
		return Shard{}, fmt.Errorf("%s: shards count from 0, so the last one is %d/%d", text, n-1, n)
	}
	return Shard{i, n}, nil
}

// Of returns the number of shards, at least 1.
func (s Shard) Of() int { return max(s.N, 1) }

// Range returns the half-open range of schedules that belongs to the shard.
func (s Shard) Range(total int) (from, to int) { return s.at(total, s.I), s.at(total, s.I+1) }

// at returns the first index of shard i. It avoids the product total*i, which may overflow.
func (s Shard) at(total, i int) int {
	n := s.Of()
	return total/n*i + total%n*i/n
}
