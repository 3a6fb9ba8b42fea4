package typedpatch

import (
	"reflect"
	"slices"
)

// mergeList merges elements by their keys into a list. Its order is that of the directive
// wanted, or of the elements where there is none; those that neither has stay where they were
// between the others.
func mergeList(into reflect.Value, key string, elements []any, wanted any) bool {
	if into.Kind() != reflect.Slice || key == "" {
		return false
	}
	f, ok := fieldsOf(into.Type().Elem())[key]
	if !ok || f.kind != reflect.String {
		return false
	}
	named, ok := keysOf(elements, key)
	if !ok {
		return false
	}
	list := reflect.MakeSlice(into.Type(), into.Len(), into.Len()+len(elements))
	reflect.Copy(list, into)
	keys := make([]string, 0, list.Cap())
	for i := range list.Len() {
		keys = append(keys, f.of(list.Index(i)).String())
	}
	if repeats(keys) {
		return false
	}
	known := len(keys)
	for i, k := range named {
		if at := slices.Index(keys[:known], k); at >= 0 {
			if !Merge(list.Index(at), elements[i].(map[string]any)) {
				return false
			}
			continue
		}
		keys, list = append(keys, k), reflect.Append(list, reflect.Zero(list.Type().Elem()))
		if !set(list.Index(list.Len()-1), elements[i]) {
			return false
		}
	}
	first := named
	if directive, is := wanted.([]any); is {
		if first, ok = keysOf(directive, key); !ok || !within(named, first) {
			return false
		}
	}
	arrange(list, keys, known, first)
	into.Set(list)
	return true
}

// keysOf are the keys of elements. Each element must have one of its own.
func keysOf(elements []any, key string) ([]string, bool) {
	keys := make([]string, len(elements))
	for i, e := range elements {
		fields, _ := e.(map[string]any)
		k, ok := fields[key].(string)
		if !ok {
			return nil, false
		}
		keys[i] = k
	}
	return keys, !repeats(keys)
}

// repeats reports whether one of a few names is there twice.
func repeats(names []string) bool {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return true
		}
	}
	return false
}

// within reports whether names are among others, in their order.
func within(names, others []string) bool {
	last := -1
	for _, n := range names {
		at := slices.Index(others, n)
		if at <= last {
			return false
		}
		last = at
	}
	return true
}

// arrange brings a list, of whose keys so many were there before, into the order of the names
// that come first. Another element goes before one of those where it stood before it.
func arrange(list reflect.Value, keys []string, known int, first []string) {
	var rest, place []int
	for i, k := range keys {
		if !slices.Contains(first, k) {
			rest = append(rest, i)
		}
	}
	for _, name := range first {
		at := slices.Index(keys, name)
		if at < 0 {
			continue
		}
		for len(rest) > 0 && at < known && rest[0] < at {
			place, rest = append(place, rest[0]), rest[1:]
		}
		place = append(place, at)
	}
	place = append(place, rest...)
	if slices.IsSorted(place) {
		return
	}
	was := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
	reflect.Copy(was, list)
	for i, from := range place {
		list.Index(i).Set(was.Index(from))
	}
}
