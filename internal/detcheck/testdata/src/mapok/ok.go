package mapok

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/google/btree"
	"k8s.io/apimachinery/pkg/util/sets"
)

type pod struct {
	name, node string
	n          int
	labels     map[string]string
	refs       []string
}

type ref struct{ kind, name string }

func (p *pod) DeepCopy() *pod { return p }

type index struct {
	pods  map[string]*pod
	total int
	names []string
}

func elements(m map[string]int) (map[string]int, map[ref]int, map[string][]int) {
	out, byRef, lists := map[string]int{}, map[ref]int{}, map[string][]int{}
	for k, v := range m {
		out[k] = v
		out["a/"+k] = v
		byRef[ref{"pod", k}] = v
		lists[k] = append(lists[k], v)
		m[k] = v + 1
	}
	return out, byRef, lists
}

func inverse(m map[string]string) (map[string]bool, map[string]int) {
	values, count := map[string]bool{}, map[string]int{}
	for _, v := range m {
		values[v] = true
		count[v]++
		count[v] += 2
	}
	return values, count
}

func deletes(m map[string]*pod, other map[string]bool) {
	for k, p := range m {
		if p.n == 0 {
			delete(m, k)
		}
		delete(other, p.name)
	}
}

func folds(m map[string]int, h uint64) (n int, sum uint64, bits uint8, all, some bool, lo, hi int) {
	all, lo = true, 1<<30
	for k, v := range m {
		n++
		n -= v
		sum += h * uint64(len(k))
		bits |= uint8(v)
		all = all && v > 0
		some = some || v > 1
		lo = min(lo, v)
		if v > hi {
			hi = v
		}
	}
	return
}

func leastName(m map[string]int) string {
	least := "~"
	for k := range m {
		if least > k {
			least = k
		}
	}
	return least
}

func anyOf(m map[string]int) bool {
	for _, v := range m {
		if v < 0 {
			continue
		}
		if v > 3 {
			return true
		}
	}
	return false
}

func found(m map[string]int) (found bool) {
	for _, v := range m {
		if v > 3 {
			found = true
			break
		}
	}
	return found
}

func constant(m map[string]int, fallback string) (s string) {
	for _, v := range m {
		if v > 3 {
			s = fallback
		}
	}
	return s
}

func collected(m map[string]int, extra map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	for k := range extra {
		keys = append(keys, k)
	}
	if len(keys) == 0 || keys == nil {
		return nil
	}
	sort.Strings(keys)
	return keys
}

func collectedField(x *index) {
	for k := range x.pods {
		x.names = append(x.names, k)
		x.total++
	}
	slices.Sort(x.names)
}

func collectedFiltered(m map[string]*pod) []*pod {
	var out []*pod
	for _, p := range m {
		if p.labels["app"] == "web" && slices.ContainsFunc(p.refs, func(r string) bool { return r == p.name }) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *pod) int { return strings.Compare(a.name, b.name) })
	return out
}

func byHelper(m map[string]*pod) []*pod {
	var out []*pod
	for _, p := range m {
		out = append(out, p)
	}
	sortByName(out)
	return out
}

func sortByName(pods []*pod) {
	sort.Slice(pods, func(i, j int) bool { return pods[i].name < pods[j].name })
}

func ownEntries(m map[string]*pod) map[string]*pod {
	out := map[string]*pod{}
	for k, p := range m {
		p.n = 0
		c := p.DeepCopy()
		c.name = k
		c.labels["x"] = k
		var b strings.Builder
		b.WriteString(k)
		list := []int{}
		for i := range 3 {
			if i > p.n {
				break
			}
			list = append(list, i)
		}
		switch x := len(list); {
		case x > 1:
			c.n = x
		default:
			c.node = b.String()
		}
		out[k] = c
	}
	return out
}

func nested(m map[string]map[string]int) map[string]int {
	sums := map[string]int{}
	var names []string
	for k, inner := range m {
		for name, v := range inner {
			sums[k] += v
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return sums
}

func iterators(m map[string]int, s sets.Set[string], v reflect.Value) (n int) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		println(k)
	}
	for range maps.Values(m) {
		n++
	}
	out := map[string]int{}
	for k, v := range maps.All(m) {
		out[k] = v
	}
	for k := range maps.Keys(m) {
		out[k] = 2
		s.Insert(k)
	}
	keys := slices.Collect(maps.Keys(m))
	slices.Sort(keys)
	list := s.UnsortedList()
	sort.Strings(list)
	_ = maps.Collect(maps.All(m))
	_ = sets.New(slices.Collect(maps.Values(m))...)
	_ = slices.SortedFunc(maps.Keys(m), strings.Compare)
	_ = len(s.UnsortedList())
	for _, k := range s.UnsortedList() {
		n += len(k)
	}
	kv := v.MapKeys()
	sort.Slice(kv, func(i, j int) bool { return kv[i].String() < kv[j].String() })
	return n
}

func trees(m map[string]string, t *btree.BTreeG[ref]) {
	for k, v := range m {
		t.ReplaceOrInsert(ref{k, v})
	}
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
