package directive

import "maps"

func used(m map[string]int, f func(string)) {
	//detcheck:ordered f adds to a set
	for k := range m {
		f(k)
	}
	//detcheck:ordered the caller sorts
	seq := maps.Keys(m)
	_ = seq
	//detcheck:ordered f adds to a set
outer:
	for k := range m {
		f(k)
		continue outer
	}
}

func trailing(m, n map[string]int, f func(string)) {
	for k := range m { //detcheck:ordered f adds to a set
		for j := range n { // want `order of the range over n can matter`
			f(k + j)
		}
	}
}

func faulty(m map[string]int, f func(string)) {
	//detcheck:ordered // want `directive without a reason; say why the order cannot matter`
	for k := range m {
		f(k)
	}
	//detcheck:ordered nothing to excuse // want `directive excuses nothing: there is no map range here`
	for range m {
	}
	//detcheck:ordered too far away // want `directive excuses nothing`

	for k := range m { // want `order of the range over m can matter`
		f(k)
	}
	//detcheck:ignore me // want `unknown directive detcheck:ignore; the only one is //detcheck:ordered <reason>`
	for k := range m { // want `order of the range over m can matter`
		f(k)
	}
}
