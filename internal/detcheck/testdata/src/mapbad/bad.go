package mapbad

import (
	"maps"
	"slices"
	"sort"

	"github.com/google/btree"
	"k8s.io/apimachinery/pkg/util/sets"
)

type pod struct {
	name string
	n    int
}

func (p *pod) crash() {}

type world struct{ log []string }

func (w *world) Pick(n int) int  { return 0 }
func (w *world) record(s string) {}
func (w *world) shared() *pod    { return nil }

func firstKey(m map[string]int) string {
	for k := range m { // want `order of the range over m escapes: which entry's k is returned depends on which is visited first \(line \d+\); range over sorted keys .* or give the reason`
		return k
	}
	return ""
}

func lastValue(m map[string]int) (last int) {
	for _, v := range m { // want `the last entry visited stays in last`
		last = v
	}
	return
}

func loopVariable(m map[string]int) (k string) {
	for k = range m { // want `the last entry visited stays in the loop's variables`
	}
	return
}

func unsorted(m map[string]int) (keys []string) {
	for k := range m { // want `it appends to keys, and keys is used before it is sorted`
		keys = append(keys, k)
	}
	return keys
}

func neverUsed(w *world, m map[string]int) {
	for k := range m { // want `it appends to w.log, and w.log is not sorted afterwards`
		w.log = append(w.log, k)
	}
}

func sortedTooLate(m map[string]int) []string {
	var keys []string
	for k := range m { // want `keys is used before it is sorted`
		keys = append(keys, k)
	}
	println(keys[0])
	sort.Strings(keys)
	return keys
}

func sortedOther(m map[string]int, other []string) []string {
	var keys []string
	for k := range m { // want `keys is used before it is sorted`
		keys = append(keys, k)
	}
	sort.Slice(other, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}

func effects(m map[string]*pod, w *world) {
	for k := range m { // want `the effects of w.record happen in map order`
		w.record(k)
	}
	for _, p := range m { // want `the effects of p.crash happen in map order`
		p.crash()
	}
	for range m { // want `it draws choices in map order`
		if w.Pick(2) == 0 {
			continue
		}
	}
	for k := range m { // want `what w.shared\(\).name changes is not known`
		w.shared().name = k
	}
	for k := range m { // want `the last entry visited stays in p.name`
		p := w.shared()
		p.name = k
	}
	for range m { // want `a defer happens in map order`
		defer w.record("")
	}
}

func trees(m map[string]string, t *btree.BTreeG[string]) {
	for _, v := range m { // want `the effects of t.ReplaceOrInsert happen in map order`
		t.ReplaceOrInsert(v)
	}
}

func callback(m map[string]int, yield func(string) bool) {
	for k := range m { // want `it calls yield, which sees the entries in map order`
		if !yield(k) {
			return
		}
	}
}

func channels(m map[string]int, c chan string) {
	for k := range m { // want `a send happens in map order`
		c <- k
	}
	for range m { // want `it receives from a channel in map order`
		<-c
	}
}

func collisions(m map[string]*pod) map[string]*pod {
	byName := map[string]*pod{}
	for _, p := range m { // want `several entries may write byName\[p.name\], and the last one visited stays`
		byName[p.name] = p
	}
	lists := map[string][]string{}
	for k, p := range m { // want `it appends to lists\[p.name\], and lists\[p.name\] is not sorted afterwards`
		lists[p.name] = append(lists[p.name], k)
	}
	return byName
}

func grows(m map[string]int) {
	for k := range m { // want `it adds elements to the map it ranges over`
		m["x"+k] = 1
	}
	for _, v := range m { // want `it adds elements to the map it ranges over`
		m[string(rune(v))] = 1
	}
	for k := range m { // want `it deletes other elements of the map it ranges over`
		delete(m, "x"+k[1:])
	}
}

func notCommutative(m map[string]float64, s map[string]string) (f float64, text string, n int, h uint64) {
	for _, v := range m { // want `f \+= does not commute for float64`
		f += v
	}
	for _, v := range s { // want `text \+= does not commute for string`
		text += v
	}
	for k := range s { // want `h <<= does not commute for uint64`
		h <<= uint64(len(k))
	}
	for k := range s { // want `n is changed in two ways that do not commute`
		n += len(k)
		n *= 2
	}
	for k := range s { // want `text is changed in two ways that do not commute`
		if k == "a" {
			text = "x"
		} else {
			text = "y"
		}
	}
	return
}

func readsBack(m map[string]int) (n int) {
	for k := range m { // want `it reads n, which earlier turns changed`
		n++
		if n > 3 && k == "" {
			continue
		}
	}
	seen := map[int]bool{}
	for _, v := range m { // want `it reads seen, which earlier turns changed`
		if seen[v] {
			n++
		}
		seen[v] = true
	}
	return
}

func leavesEarly(m map[string]int) (n int) {
	for _, v := range m { // want `it leaves early, and n depends on the entries visited before`
		n += v
		if v > 3 {
			break
		}
	}
	for _, v := range m { // want `which way it leaves depends on which entry is visited first`
		if v > 3 {
			return 1
		}
		if v < 0 {
			return 2
		}
	}
	return
}

func literals(m map[string]int) (p pod) {
	for _, v := range m { // want `p is changed in two ways that do not commute`
		if v > 3 {
			p = pod{n: 1}
		} else {
			p = pod{n: 2}
		}
	}
	for _, v := range m { // want `which way it leaves depends on which entry is visited first`
		if v > 3 {
			return pod{n: 1}
		}
		if v < 0 {
			return pod{n: 2}
		}
	}
	return
}

func iterators(m map[string]int, s sets.Set[string]) []string {
	for k := range maps.Keys(m) { // want `order of the range over m escapes`
		println(k)
	}
	for v := range maps.Values(m) { // want `which entry's .* is returned`
		return []string{string(rune(v))}
	}
	println(slices.Collect(maps.Keys(m))[0]) // want `maps.Keys comes in map order and is not sorted`

	keys := slices.Collect(maps.Keys(m)) // want `maps.Keys comes in map order and is not sorted`
	println(keys[0])
	seq := maps.Values(m) // want `maps.Values comes in map order`
	_ = seq
	for _, k := range s.UnsortedList() { // want `order of the range over s.UnsortedList\(\) escapes: the effects of println`
		println(k)
	}
	for k := range s { // want `order of the range over s escapes`
		println(k)
	}
	return keys
}

func generic[M ~map[K]V, K comparable, V any](m M) (k K) {
	for k := range m { // want `order of the range over m escapes`
		return k
	}
	return k
}

func inClosure(m map[string]int, list []int) (last int) {
	for _, v := range m { // want `the last entry visited stays in last`
		slices.ContainsFunc(list, func(x int) bool { last = v; return x == v })
	}
	return
}
