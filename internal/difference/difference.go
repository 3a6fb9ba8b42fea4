// Package difference tells in which fields two versions of an object differ, in the
// words of its JSON: lists whose entries have names are compared by name, a value that
// prints itself is one value whatever it is made of, and a list or map is the same
// empty as not there.
//
// go-cmp compares lists by position and shows neither the order of named entries nor a change of it,
// and with options and a Reporter for the rest it takes seven times as long. Its verdict of equal or
// not is the reference of the tests.
package difference

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Leaf is one field in which two values differ.
type Leaf struct {
	Path    string        // "spec.template.spec.containers[web].image"; "" for the values themselves
	Was, Is reflect.Value // invalid where there is none
	Order   bool          // of a list whose entries are what they were: their names, in order
}

// Of lists where two values of one type differ: the fields of structs in their order,
// the keys of maps sorted, the entries of lists in the order of the first, then those
// that only the second has. Lists of plain values differ as a whole; other lists are
// compared entry by entry, by name where they have names, else by place.
func Of(a, b any) []Leaf {
	var w walk
	w.values("", reflect.ValueOf(a), reflect.ValueOf(b))
	return w.found
}

// walk goes through two values side by side and collects where they differ.
type walk struct{ found []Leaf }

// values compares two values of any sort; one that is not there is invalid.
func (w *walk) values(path string, a, b reflect.Value) {
	a, b = Inside(a), Inside(b)
	if empty(a) && empty(b) || identical(a, b) {
		return
	}
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() || printsItself(a) {
		w.leaf(path, a, b)
		return
	}
	switch a.Kind() {
	case reflect.Struct:
		w.structs(path, a, b)
	case reflect.Map:
		w.maps(path, a, b)
	case reflect.Slice, reflect.Array:
		w.lists(path, a, b)
	default:
		w.leaf(path, a, b)
	}
}

func (w *walk) leaf(path string, a, b reflect.Value) {
	if JSON(a) != JSON(b) {
		w.found = append(w.found, Leaf{Path: path, Was: a, Is: b})
	}
}

func (w *walk) structs(path string, a, b reflect.Value) {
	for i := range a.NumField() {
		if f := a.Type().Field(i); f.IsExported() {
			w.values(below(path, JSONName(f)), a.Field(i), b.Field(i))
		}
	}
}

func (w *walk) maps(path string, a, b reflect.Value) {
	if a.Type().Key().Kind() != reflect.String {
		w.leaf(path, a, b)
		return
	}
	var names []string
	for _, m := range []reflect.Value{a, b} {
		for _, k := range m.MapKeys() { //detcheck:ordered the names are sorted below
			names = append(names, k.String())
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		key := reflect.ValueOf(name).Convert(a.Type().Key())
		w.values(belowKey(path, name), a.MapIndex(key), b.MapIndex(key))
	}
}

// lists compares entries of one name where they have names, and else entries of one
// place. A list of plain values is shown whole.
func (w *walk) lists(path string, a, b reflect.Value) {
	if plain(a.Type().Elem()) || plainEntries(a) && plainEntries(b) {
		w.leaf(path, a, b)
		return
	}
	if key := keyOf(a, b); key != "" {
		w.keyed(path, key, a, b)
		return
	}
	for i := range max(a.Len(), b.Len()) {
		w.values(path+"["+strconv.Itoa(i)+"]", entry(a, i), entry(b, i))
	}
}

func (w *walk) keyed(path, key string, a, b reflect.Value) {
	was, is := named(a, key), named(b, key)
	n := len(w.found)
	for i, name := range was {
		w.values(path+"["+name+"]", a.Index(i), entry(b, slices.Index(is, name)))
	}
	for i, name := range is {
		if !slices.Contains(was, name) {
			w.values(path+"["+name+"]", reflect.Value{}, b.Index(i))
		}
	}
	if n == len(w.found) && !slices.Equal(was, is) { // entries that differ say already that the list is another
		w.found = append(w.found, Leaf{path, reflect.ValueOf(was), reflect.ValueOf(is), true})
	}
}

func entry(list reflect.Value, i int) reflect.Value {
	if i < 0 || i >= list.Len() {
		return reflect.Value{}
	}
	return list.Index(i)
}

func below(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// belowKey is below for the keys of maps, which may have dots of their own.
func belowKey(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "[" + key + "]"
	}
	return below(path, key)
}

// A value is shown up to longest columns; of two long ones that begin alike,
// the part that differs, with lead columns in front of it.
const (
	longest = 40
	lead    = 8
)

// Shorten cuts two different values so that they still differ.
func Shorten(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	if len(x) <= longest && len(y) <= longest {
		return a, b
	}
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	from := 0
	if same > longest/2 {
		from = same - lead
	}
	return window(x, from), window(y, from)
}

func window(text []rune, from int) string {
	head := ""
	if from > 0 {
		head = "..."
	}
	if text = text[from:]; len(text) > longest {
		return head + string(text[:longest]) + "..."
	}
	return head + string(text)
}

// Inside follows pointers and interfaces; what is nil is invalid.
func Inside(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

// empty reports whether a value is not there, or holds no entries: an object's JSON is
// the same with and without it.
func empty(v reflect.Value) bool {
	return !v.IsValid() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// identical reports whether two values are equal to the last bit, so that there is
// nothing to look for in them.
func identical(a, b reflect.Value) bool {
	return a.IsValid() && b.IsValid() && a.CanInterface() && b.CanInterface() &&
		reflect.DeepEqual(a.Interface(), b.Interface())
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// printsItself reports whether a value is one in JSON whatever it is made of: a time, a
// quantity, bytes.
func printsItself(v reflect.Value) bool {
	t := v.Type()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) ||
		t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// plain reports whether values of a type have no fields or entries.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Interface:
		return false
	}
	return true
}

func plainEntries(list reflect.Value) bool {
	for i := range list.Len() {
		if v := Inside(list.Index(i)); v.IsValid() && !plain(v.Type()) {
			return false
		}
	}
	return true
}

// keyOf is the field by which the entries of two lists are told apart, "" where there
// is none: lists of API objects have a name, a type or a key for it.
func keyOf(a, b reflect.Value) string {
	for _, key := range []string{"name", "type", "key"} {
		if distinct(named(a, key)) && distinct(named(b, key)) {
			return key
		}
	}
	return ""
}

func distinct(names []string) bool {
	seen := map[string]bool{"": true}
	for _, n := range names {
		if seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}

func named(list reflect.Value, key string) []string {
	names := make([]string, list.Len())
	for i := range names {
		names[i] = nameOf(list.Index(i), key)
	}
	return names
}

func nameOf(v reflect.Value, key string) string {
	v = Inside(v)
	if !v.IsValid() {
		return ""
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			v = Inside(v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())))
		}
	case reflect.Struct:
		v = fieldNamed(v, key)
	}
	if !v.IsValid() || v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}

func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && JSONName(f) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// JSONName is what a field is called in an object's JSON, "" where the field's own
// fields stand in its place.
func JSONName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// JSON renders a value, and says none for one that is not there.
func JSON(v reflect.Value) string {
	if v = Inside(v); !v.IsValid() {
		return "none"
	}
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return v.Type().String()
	}
	return string(data)
}
