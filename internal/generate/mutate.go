// Package generate makes API objects for comparing servers. It changes a few fields of good objects to values that may
// be good or bad. A seed, rapid, or a list decides by numbers, of which 0 is the plainest. Only tests use it.
package generate

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Mutator changes objects.
type Mutator struct {
	// Pick returns a number from 0 to n-1.
	Pick func(n int) int

	words map[string][]string // values seen in fields, by Go type and field
}

// Learn records an object's field values, to try them in other fields of their type.
func (m *Mutator) Learn(obj runtime.Object) {
	m.learn(reflect.ValueOf(obj), "")
}

// Word records a value for fields of this name, such as the "supported values" in a refusal.
func (m *Mutator) Word(field, word string) {
	if m.words == nil {
		m.words = map[string][]string{}
	}
	for _, w := range m.words[field] {
		if w == word {
			return
		}
	}
	if len(m.words[field]) < 40 {
		m.words[field] = append(m.words[field], word)
	}
}

func (m *Mutator) learn(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			m.learn(v.Elem(), name)
		}
	case reflect.Struct:
		if atoms[v.Type()] != nil {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "TypeMeta" {
				m.learn(v.Field(i), f.Name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			m.learn(v.Index(i), name)
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			m.learn(v.MapIndex(key), name)
		}
	case reflect.String:
		if s := v.String(); s != "" && len(s) < 100 {
			m.Word(name, s)
		}
	}
}

// Mutate changes up to three fields of an object, in its status or outside of it.
func (m *Mutator) Mutate(obj runtime.Object, status bool) {
	v := reflect.ValueOf(obj).Elem()
	for range 1 + m.Pick(3) {
		if status {
			m.change(v.FieldByName("Status"), "Status", 0)
			continue
		}
		m.changeField(v, 0, func(f string) bool { return f != "Status" && f != "TypeMeta" })
	}
}

// metaFields are the fields of metadata to change: the others behave alike for all kinds.
var metaFields = map[string]bool{"Labels": true, "Annotations": true, "Finalizers": true, "OwnerReferences": true}

// changeField changes one field of a struct.
func (m *Mutator) changeField(v reflect.Value, depth int, may func(name string) bool) {
	var fields []int
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || strings.HasPrefix(f.Tag.Get("json"), "-") || !may(f.Name) {
			continue
		}
		fields = append(fields, i)
	}
	if len(fields) == 0 {
		return
	}
	i := fields[m.Pick(len(fields))]
	f := v.Type().Field(i)
	if f.Name == "ObjectMeta" {
		m.changeField(v.Field(i), depth, func(name string) bool { return metaFields[name] })
		return
	}
	m.change(v.Field(i), f.Name, depth)
}

func anyField(string) bool { return true }

// change changes a value somewhere.
func (m *Mutator) change(v reflect.Value, name string, depth int) {
	if atom := atoms[v.Type()]; atom != nil {
		atom(m, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		m.changeField(v, depth+1, anyField)
	case reflect.Pointer:
		switch {
		case v.IsNil():
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), name, depth+1)
		case m.Pick(4) == 3:
			v.SetZero()
		default:
			m.change(v.Elem(), name, depth)
		}
	case reflect.Slice:
		m.changeSlice(v, name, depth)
	case reflect.Map:
		m.changeMap(v, name, depth)
	default:
		m.scalar(v, name)
	}
}

func (m *Mutator) changeSlice(v reflect.Value, name string, depth int) {
	n := v.Len()
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte([]string{"a", "", "{}", "\x00\xff"}[m.Pick(4)]))
		return
	}
	if n == 0 {
		m.grow(v, name, depth)
		return
	}
	switch m.Pick(10) {
	case 6:
		m.grow(v, name, depth)
	case 7: // the same twice
		v.Set(reflect.Append(v, v.Index(m.Pick(n))))
	case 8:
		i := m.Pick(n)
		v.Set(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, n)))
	case 9:
		v.SetZero()
	default:
		m.change(v.Index(m.Pick(n)), name, depth)
	}
}

// grow adds an element to a slice.
func (m *Mutator) grow(v reflect.Value, name string, depth int) {
	e := reflect.New(v.Type().Elem()).Elem()
	m.fill(e, name, depth+1)
	v.Set(reflect.Append(v.Slice3(0, v.Len(), v.Len()), e))
}

func (m *Mutator) changeMap(v reflect.Value, name string, depth int) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	keys := sortedKeys(v)
	if len(keys) > 0 && m.Pick(4) == 3 {
		v.SetMapIndex(keys[m.Pick(len(keys))], reflect.Value{})
		return
	}
	key := reflect.New(v.Type().Key()).Elem()
	m.scalar(key, name+" key")
	if len(keys) > 0 && m.Pick(2) == 1 {
		key = keys[m.Pick(len(keys))]
	}
	value := reflect.New(v.Type().Elem()).Elem()
	m.fill(value, name, depth+1)
	v.SetMapIndex(key, value)
}

// fill fills a new value partly.
func (m *Mutator) fill(v reflect.Value, name string, depth int) {
	if atom := atoms[v.Type()]; atom != nil {
		atom(m, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || strings.HasPrefix(f.Tag.Get("json"), "-") || f.Name == "TypeMeta" {
				continue
			}
			// Required fields are mostly set, others less often the deeper they are.
			odds := 2 + depth
			if !strings.Contains(f.Tag.Get("json"), "omitempty") {
				odds = 8
			}
			if pick := m.Pick(odds); odds == 8 && pick < 7 || odds != 8 && pick == 1 {
				m.fill(v.Field(i), f.Name, depth+1)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), name, depth)
	case reflect.Slice:
		m.changeSlice(v, name, depth)
	case reflect.Map:
		m.changeMap(v, name, depth)
	default:
		m.scalar(v, name)
	}
}
