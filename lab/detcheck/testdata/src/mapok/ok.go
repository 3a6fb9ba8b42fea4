package mapok

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

type pod struct {
	name string
	n    int
	refs []string
}

type digest uint64

func (d *digest) add(s string) {}

func elements(m map[string]int, used map[string]bool) map[string][]int {
	lists := map[string][]int{}
	for k, v := range m {
		if used[k] || v == 0 {
			delete(used, k)
			continue
		}
		lists[k] = append(lists[k], v)
		m[k]++
	}
	return lists
}

func copies(m map[string]pod) map[string]pod {
	out := map[string]pod{}
	for k, p := range m {
		p.n, p.name = 0, k
		out[k] = p
	}
	return out
}

func sums(m map[string]map[string]int) (n int, sum uint64) {
	for k, inner := range m {
		var h digest
		weight := 1
		for _, v := range inner {
			if v > 3 {
				weight += 2
			}
			n++
		}
		h.add(k)
		sum += uint64(h) * uint64(weight)
	}
	return n, sum
}

func anyOf(m map[string]int) (bool, error) {
	for _, v := range m {
		if v < 0 {
			continue
		}
		if v > 3 {
			return true, nil
		}
	}
	return false, nil
}

func collected(m map[string]*pod, extra map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k, p := range m {
		if slices.ContainsFunc(p.refs, func(s string) bool { return s == p.name }) {
			keys = append(keys, k)
		}
	}
	for k := range extra {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil
	}
	sort.Strings(keys)
	return keys
}

func sortedByName(m map[string]*pod) []*pod {
	var out []*pod
	for _, p := range m {
		out = append(out, p)
	}
	sortPods(out)
	return out
}

func sortPods(pods []*pod) {
	slices.SortFunc(pods, func(a, b *pod) int { return strings.Compare(a.name, b.name) })
}

func iterators(m map[string]int, s sets.Set[string], v reflect.Value) (n int) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		println(k)
	}
	for range maps.Values(m) {
		n++
	}
	for _, k := range s.UnsortedList() {
		n += len(k)
	}
	_ = slices.SortedFunc(maps.Keys(m), strings.Compare)
	keys := slices.Collect(maps.Keys(m))
	slices.Sort(keys)
	list := s.UnsortedList()
	sort.Strings(list)
	kv := v.MapKeys()
	sort.Slice(kv, func(i, j int) bool { return kv[i].String() < kv[j].String() })
	return n
}

func generic[M ~map[K]V, K comparable, V any](m M) (n int) {
	for range m {
		n++
	}
	return n
}

func notAMap(list []string, f func(string)) {
	for _, s := range list {
		f(s)
	}
}
