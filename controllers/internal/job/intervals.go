package job

import (
	"slices"
	"strconv"
	"strings"
)

// interval is a run of completion indexes, both ends included; intervals are several, sorted and not adjacent.
type (
	interval  struct{ first, last int }
	intervals []interval
)

// parseIntervals reads the format of [intervals.String]. It skips unreadable parts, and indexes from completions on.
func parseIntervals(text string, completions int) intervals {
	if text == "" {
		return nil
	}
	var list intervals
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		if first >= completions {
			break
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		list = list.add(interval{first, min(last, completions-1)})
	}
	return list
}

// add appends an interval that begins no earlier than the last one.
func (list intervals) add(next interval) intervals {
	if n := len(list); n > 0 && next.first <= list[n-1].last+1 {
		list[n-1].last = max(list[n-1].last, next.last)
		return list
	}
	return append(list, next)
}

// with returns the list with more indexes.
func (list intervals) with(indexes ...int) intervals {
	var more intervals
	for _, i := range slices.Sorted(slices.Values(indexes)) {
		more = more.add(interval{i, i})
	}
	return list.union(more)
}

// union returns the union of two lists.
func (list intervals) union(other intervals) intervals {
	var both intervals
	for len(list)+len(other) > 0 {
		if len(other) == 0 || len(list) > 0 && list[0].first < other[0].first {
			both, list = both.add(list[0]), list[1:]
		} else {
			both, other = both.add(other[0]), other[1:]
		}
	}
	return both
}

func (list intervals) has(index int) bool {
	return slices.ContainsFunc(list, func(i interval) bool { return i.first <= index && index <= i.last })
}

// total returns the number of indexes in the list.
func (list intervals) total() int {
	n := 0
	for _, i := range list {
		n += i.last - i.first + 1
	}
	return n
}

// common returns the number of indexes in both lists.
func (list intervals) common(other intervals) int {
	n := 0
	for _, a := range list {
		for _, b := range other {
			n += max(0, min(a.last, b.last)-max(a.first, b.first)+1)
		}
	}
	return n
}

// missing returns the first n indexes below completions that are not in the list.
func (list intervals) missing(n, completions int) []int {
	var free []int
	for i := 0; i < completions && len(free) < n; i++ {
		if len(list) > 0 && list[0].first <= i {
			i, list = list[0].last, list[1:]
			continue
		}
		free = append(free, i)
	}
	return free
}

// String formats them as in statuses: "1,3,4,7-9".
func (list intervals) String() string {
	var b strings.Builder
	for n, i := range list {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i.first))
		switch {
		case i.last == i.first+1:
			b.WriteByte(',')
			b.WriteString(strconv.Itoa(i.last))
		case i.last > i.first:
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(i.last))
		}
	}
	return b.String()
}
