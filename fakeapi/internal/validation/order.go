package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// inOrder sorts, by the keys of a map, errors about its entries that upstream's rules
// find one after the other, which they do in the map's order: at random.
func inOrder(errs field.ErrorList) field.ErrorList {
	for i := 0; i < len(errs); {
		n, of := 1, mapOf(errs[i])
		for of != "" && i+n < len(errs) && mapOf(errs[i+n]) == of {
			n++
		}
		slices.SortStableFunc(errs[i:i+n], func(a, b *field.Error) int {
			return cmp.Compare(keyOf(a.Field), keyOf(b.Field))
		})
		i += n
	}
	return errs
}

// mapOf is the path of the map that an error is about an entry of; "" for none. What is
// required is no entry, and labels are checked in an order of their own. The values in all
// maps of a LimitRange are checked together, after the names in each.
func mapOf(e *field.Error) string {
	key := keyOf(e.Field)
	of := strings.TrimSuffix(e.Field, "["+key+"]")
	if strings.HasPrefix(of, "spec.limits[") && of != e.Field && fmt.Sprint(e.BadValue) != key {
		return of[:strings.IndexByte(of, ']')]
	}
	if of == e.Field || e.Type == field.ErrorTypeRequired || strings.HasSuffix(of, "labels") {
		return ""
	}
	return of
}

// keyOf is the key at the end of a path; "" for an index or none.
func keyOf(path string) string {
	open := strings.IndexByte(path, '[')
	for open >= 0 && strings.HasSuffix(path, "]") {
		key := path[open+1:]
		end := strings.IndexByte(key, ']')
		if _, err := strconv.Atoi(key[:end]); err != nil {
			return strings.TrimSuffix(key, "]")
		}
		next := strings.IndexByte(key, '[')
		if next < 0 {
			return ""
		}
		open += 1 + next
	}
	return ""
}
