package mapok

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
)

func sorted(m map[string]int, s sets.Set[string]) []string {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		println(k)
	}
	maps.DeleteFunc(m, func(k string, v int) bool { return v == 0 })
	return slices.Sorted(slices.Values(slices.Sorted(maps.Keys(s))))
}

func notAMap(list []string, seq func(func(int) bool), f func(string)) {
	for _, s := range list {
		f(s)
	}
	for i := range seq {
		f(list[i])
	}
}
