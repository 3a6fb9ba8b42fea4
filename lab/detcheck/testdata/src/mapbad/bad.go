package mapbad

import (
	"maps"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/util/sets"
)

type pod struct{ name string }

func (p *pod) crash() {}

type world struct{ log []string }

func (w *world) Pick(n int) int  { return 0 }
func (w *world) record(s string) {}
func (w *world) shared() *pod    { return nil }

func firstKey(m map[string]int) string {
	for k := range m { // want `the order of the range over m can matter in line 23; range over sorted keys .* or give the reason`
		return k
	}
	return ""
}

func lastValue(m map[string]int) (k string, last int) {
	for _, v := range m { // want `can matter in line 30`
		last = v
	}
	for k = range m { // want `can matter in line 32`
	}
	for range m { // want `can matter in line 35`
		for _, last = range []int{1} {
		}
	}
	return
}

func unsorted(w *world, m map[string]int, other []string) []string {
	var keys []string
	for k := range m { // want `can matter in line 44`
		keys = append(keys, k)
	}
	sort.Slice(other, func(i, j int) bool { return keys[i] < keys[j] })
	sort.Strings(keys)
	for k := range m { // want `can matter in line 49`
		w.log = append(w.log, k)
	}
	return keys
}

func effects(m map[string]*pod, w *world, c chan string, yield func(string) bool) {
	for k := range m { // want `can matter in line 56`
		w.record(k)
	}
	for _, p := range m { // want `can matter in line 59`
		p.crash()
	}
	for range m { // want `can matter in line 62`
		if w.Pick(2) == 0 {
			continue
		}
	}
	for k := range m { // want `can matter in line 68`
		p := w.shared()
		p.name = k
	}
	for range m { // want `can matter in line 71`
		defer w.record("")
	}
	for k := range m { // want `can matter in line 74`
		c <- k
	}
	for range m { // want `can matter in line 77`
		<-c
	}
	for k := range m { // want `can matter in line 80`
		if !yield(k) {
			return
		}
	}
	for k := range m { // want `can matter in line 85`
		slices.ContainsFunc(w.log, func(s string) bool { w.record(k); return true })
	}
}

func collisions(m map[string]*pod) map[string]*pod {
	byName := map[string]*pod{}
	for k, p := range m { // want `can matter in line 92`
		byName[p.name] = p
		delete(byName, k)
	}
	for _, p := range m { // want `can matter in line 96`
		delete(byName, p.name)
	}
	for i, p := range slices.Collect(maps.Values(m)) { // want `maps.Values comes in map order`
		println(i, p)
	}
	return byName
}

func notCommutative(m map[string]float64) (f float64, text string, h uint64) {
	for k, v := range m { // want `can matter in line 106`
		f += v
		h <<= len(k)
	}
	for k := range m { // want `can matter in line 110`
		text += k
	}
	for k := range m { // want `can matter in line 113`
		h *= uint64(len(k))
	}
	return
}

func readsBack(m map[string]int, other map[string]int) (n int) {
	for range m { // want `can matter in line 119`
		n++
		if n > 3 {
			continue
		}
	}
	for k := range m { // want `can matter in line 125`
		other[k] = len(other)
	}
	return
}

func leavesEarly(m map[string]int) (n int) {
	for _, v := range m { // want `can matter in line 135`
		n += v
		if v > 3 {
			break
		}
	}
	for _, v := range m { // want `can matter in line 138`
		n++
		if v > 3 {
			return 1
		}
	}
	for _, v := range m { // want `can matter in line 149`
		if v > 3 {
			return 1
		}
		if v < 0 {
			return 2
		}
	}
	return
}

func iterators(m map[string]int, s sets.Set[string]) []string {
	for k := range maps.Keys(m) { // want `the order of the range over maps.Keys\(m\) can matter`
		println(k)
	}
	seen := map[int]bool{}
	for v := range maps.Values(m) { // want `the order of the range over maps.Values\(m\) can matter`
		seen[v] = true
	}
	println(slices.Collect(maps.Keys(m))[0]) // want `maps.Keys comes in map order and is not sorted`

	keys := slices.Collect(maps.Keys(m)) // want `maps.Keys comes in map order and is not sorted`
	println(keys[0])
	seq := maps.Values(m) // want `maps.Values comes in map order`
	_ = seq
	for _, k := range s.UnsortedList() { // want `the order of the range over s.UnsortedList\(\) can matter`
		println(k)
	}
	for k := range s { // want `the order of the range over s can matter`
		println(k)
	}
	return keys
}

func generic[M ~map[K]V, K comparable, V any](m M) (k K) {
	for k := range m { // want `the order of the range over m can matter`
		return k
	}
	return k
}
