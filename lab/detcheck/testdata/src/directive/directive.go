package directive

import (
	"maps"
	"slices"
)

func used(m map[string]int, f func(string)) {
	//detcheck:ordered f adds to a set
	for k := range m {
		f(k)
	}
	//detcheck:ordered the caller sorts
	seq := maps.Keys(m)
	_ = seq
	println(len(
		slices.Collect(maps.Keys(m)))) //detcheck:ordered a count
	//detcheck:ordered f adds to a set
outer:
	for k := range m {
		f(k)
		continue outer
	}
}

func trailing(m, n map[string]int, f func(string)) {
	for k := range m { //detcheck:ordered f adds to a set
		for j := range n { // want `range over the map n`
			f(k + j)
		}
	}
}

func faulty(m map[string]int, f func(string)) {
	//detcheck:ordered // want `directive without a reason; say why the order cannot matter`
	for k := range m {
		f(k)
	}
	//detcheck:ordered nothing to excuse // want `directive excuses nothing: no map is visited here`
	for range 3 {
	}
	//detcheck:ordered too far away // want `directive excuses nothing`

	for k := range m { // want `range over the map m`
		f(k)
	}
	//detcheck:ignore me // want `unknown directive detcheck:ignore; the only one is //detcheck:ordered <reason>`
	for k := range m { // want `range over the map m`
		f(k)
	}
}
