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
			return cmp.Compare(entryOf(a), entryOf(b))
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
	if keysAsValues(e.Field) {
		return e.Field
	}
	if ofRequest(e) {
		return strings.TrimSuffix(e.Field, "limits") + "requests"
	}
	of := strings.TrimSuffix(e.Field, "["+key+"]")
	if strings.HasPrefix(of, "spec.limits[") && of != e.Field && fmt.Sprint(e.BadValue) != key {
		return of[:strings.IndexByte(of, ']')]
	}
	if of == e.Field || e.Type == field.ErrorTypeRequired || strings.HasSuffix(of, "labels") {
		return ""
	}
	return of
}

// entryOf is the key of the entry that an error is about.
func entryOf(e *field.Error) string {
	if keysAsValues(e.Field) {
		return fmt.Sprint(e.BadValue)
	}
	if ofRequest(e) {
		return "\xff"
	}
	return keyOf(e.Field)
}

// ofRequest reports whether an error says that a request wants a limit. It does not name
// the request, so it comes after the errors that do.
func ofRequest(e *field.Error) bool {
	return e.Type == field.ErrorTypeRequired && strings.HasSuffix(e.Field, "resources.limits") &&
		strings.HasPrefix(e.Detail, "Limit must be set")
}

// keysAsValues reports whether errors about the keys of the map at a path have the path of
// the map, and the key as their bad value. A PersistentVolumeClaim's status has two such
// maps.
func keysAsValues(path string) bool {
	return path == "status.allocatedResources" || path == "status.allocatedResourceStatuses"
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
