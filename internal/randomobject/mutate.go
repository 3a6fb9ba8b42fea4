// Package randomobject creates API objects for comparing servers. It changes a few fields of valid objects to values
// that may be valid or invalid. Numbers from a seed, from package rapid or from a list choose the fields and values. 0
// is the simplest choice. Only tests use the package.
package randomobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/vectors"
)

// Mutator changes objects.
type Mutator struct {
	// Pick returns a number from 0 to n-1.
	Pick func(n int) int

	words map[string][]string // strings that occurred in fields, by the field's Go name
}

// Learn records the strings in an object's fields. Mutate uses them for other fields with the same Go name.
func (m *Mutator) Learn(obj runtime.Object) {
	m.learn(reflect.ValueOf(obj), "")
}

// Word records a value for fields with this name, for example one of the "supported values" in an error.
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

// Mutate changes up to three fields of an object, in its status or outside of its status.
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

// metaFields contains the metadata fields to change. The other metadata fields behave alike for all kinds.
var metaFields = map[string]bool{"Labels": true, "Annotations": true, "Finalizers": true, "OwnerReferences": true}

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
	case 7: // the same entry twice
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
			// Required fields are mostly set. Other fields are set less often the deeper they are nested.
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

// Good collects valid objects by kind.
type Good struct {
	// New returns an empty object of a kind, or nil to skip the kind.
	New func(schema.GroupVersionKind) runtime.Object
	Of  map[schema.GroupVersionKind][]runtime.Object
}

// Add adds an object in JSON. It skips kinds for which New returns nil.
func (g *Good) Add(raw []byte) error {
	var u unstructured.Unstructured
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return err
	}
	gvk := u.GroupVersionKind()
	obj := g.New(gvk)
	if obj == nil {
		return nil
	}
	if err := json.Unmarshal(raw, obj); err != nil {
		return fmt.Errorf("%s %s: %w", gvk.Kind, u.GetName(), err)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	if g.Of == nil {
		g.Of = map[schema.GroupVersionKind][]runtime.Object{}
	}
	g.Of[gvk] = append(g.Of[gvk], obj)
	return nil
}

// AddFile adds the objects of a file of YAML documents.
func (g *Good) AddFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		raw, err := yaml.YAMLToJSONStrict(doc)
		if err == nil {
			err = g.Add(raw)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// AddRecorded adds the objects that were successfully created in recorded cases. It skips invalid objects.
func (g *Good) AddRecorded(cases []*vectors.Recording) {
	b := vectors.NewBinding()
	b.Bind("$ns", "default")
	for _, c := range cases {
		for i := range c.Exchanges {
			ex := &c.Exchanges[i]
			if ex.Method == "POST" && ex.Response.Status == 201 && ex.RawBody == nil {
				_ = g.Add([]byte(b.Fill(string(ex.Body))))
			}
		}
	}
}

// texts are strings that validation rules treat specially.
var texts = []string{"a", "", "b", "x", "a-b.c", "example.com/a", "kubernetes.io/a", "Bad_Name!", "-", "A", "1", "*",
	"10.0.0.1", "1.2.3.4/8", "10.0.0.0/24", "999.1.1.1", "::1", "/abs", "../x", "https://example.com", "80", "a/b/c",
	"0", "100%", "5m", strings.Repeat("a", 64), strings.Repeat("a", 254), "\u00e9", " "}

var numbers = []int64{1, 0, -1, 2, 3, 5, 10, 100, 255, 256, 600, 1000, 8080, 30000, 65535, 65536, 86401,
	1 << 20, 1<<31 - 1}

func (m *Mutator) scalar(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		if known := m.words[name]; len(known) > 0 && m.Pick(3) < 2 {
			v.SetString(known[m.Pick(len(known))])
			return
		}
		v.SetString(texts[m.Pick(len(texts))])
	case reflect.Bool:
		v.SetBool(m.Pick(2) == 0)
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		n := numbers[m.Pick(len(numbers))]
		if !v.OverflowInt(n) {
			v.SetInt(n)
		}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(m.Pick(200)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(numbers[m.Pick(len(numbers))]) / 2)
	}
}

var (
	quantities = []string{"1", "0", "-1", "100m", "1.5", "1Gi", "2Gi", "1e3", "1e30", "0.1m"}
	eithers    = []intstr.IntOrString{intstr.FromInt32(1), intstr.FromInt32(0), intstr.FromInt32(-1),
		intstr.FromInt32(80), intstr.FromInt32(70000), intstr.FromString("25%"), intstr.FromString("150%"),
		intstr.FromString("http"), intstr.FromString(""), intstr.FromString("Bad!"), intstr.FromString("-5%")}
	raws = []string{`{"a":1}`, `{"apiVersion":"v1","kind":"X"}`, `5`, `null`}
)

// atoms contains functions that set values of types whose fields are not changed one by one.
var atoms = map[reflect.Type]func(*Mutator, reflect.Value){
	reflect.TypeFor[metav1.Time](): func(m *Mutator, v reflect.Value) {
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(int64(1e9+m.Pick(3)*1e8), 0).UTC())))
	},
	reflect.TypeFor[metav1.MicroTime](): func(m *Mutator, v reflect.Value) {
		v.Set(reflect.ValueOf(metav1.NewMicroTime(time.Unix(int64(1e9+m.Pick(3)*1e8), 0).UTC())))
	},
	reflect.TypeFor[metav1.Duration](): func(m *Mutator, v reflect.Value) {
		v.Set(reflect.ValueOf(metav1.Duration{Duration: time.Duration(m.Pick(3)-1) * time.Minute}))
	},
	reflect.TypeFor[resource.Quantity](): func(m *Mutator, v reflect.Value) {
		v.Set(reflect.ValueOf(resource.MustParse(quantities[m.Pick(len(quantities))])))
	},
	reflect.TypeFor[intstr.IntOrString](): func(m *Mutator, v reflect.Value) {
		v.Set(reflect.ValueOf(eithers[m.Pick(len(eithers))]))
	},
	reflect.TypeFor[runtime.RawExtension](): func(m *Mutator, v reflect.Value) {
		v.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(raws[m.Pick(len(raws))])}))
	},
	reflect.TypeFor[metav1.FieldsV1](): func(*Mutator, reflect.Value) {},
}

func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
