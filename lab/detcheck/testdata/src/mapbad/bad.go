package mapbad

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

func ranges(m map[string]int) (n int, keys []string) {
	for k := range m { // want `range over the map m: its order differs from run to run; range over slices.Sorted.* or give the reason`
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, v := range m { // want `range over the map m`
		n += v
	}
	for k := range m { // want `range over the map m`
		delete(m, k)
	}
	for range m { // want `range over the map m`
		return 1, nil
	}
	return n, keys
}

func sortKeys(s []string) []string { return s }

func iterators(m map[string]int, s sets.Set[string], v reflect.Value) (keys []string) {
	for k := range maps.Keys(m) { // want `maps.Keys goes by the order of a map`
		println(k)
	}
	for v := range maps.Values(m) { // want `maps.Values goes by the order of a map`
		println(v)
	}
	seq := maps.All[map[string]int] // want `maps.All goes by the order of a map`
	_ = seq
	keys = slices.Collect(maps.Keys(m)) // want `maps.Keys goes by the order of a map`
	slices.Sort(keys)
	keys = sortKeys(s.UnsortedList())                       // want `sets.UnsortedList goes by the order of a map`
	keys = slices.SortedFunc(maps.Keys(m), strings.Compare) // want `maps.Keys goes by the order of a map`
	one, _ := s.PopAny()                                    // want `sets.PopAny goes by the order of a map`
	v.MapKeys()                                             // want `reflect.MapKeys goes by the order of a map`
	maps.DeleteFunc(m, func(k string, _ int) bool {         // want `maps.DeleteFunc goes by the order of a map`
		println(k)
		return true
	})
	for k := range s { // want `range over the map s`
		println(k)
	}
	return append(keys, one)
}

func generic[M ~map[K]V, K comparable, V any](m M) (k K) {
	for k := range m { // want `range over the map m`
		return k
	}
	return k
}
