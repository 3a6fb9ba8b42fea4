package generate

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Strings that some validation rule treats specially.
var texts = []string{"a", "", "b", "x", "a-b.c", "example.com/a", "kubernetes.io/a", "Bad_Name!", "-", "A", "1", "*",
	"10.0.0.1", "1.2.3.4/8", "10.0.0.0/24", "999.1.1.1", "::1", "/abs", "../x", "https://example.com", "80", "a/b/c",
	"0", "100%", "5m", strings.Repeat("a", 64), strings.Repeat("a", 254), "\u00e9", " "}

var numbers = []int64{1, 0, -1, 2, 3, 5, 10, 100, 255, 256, 600, 1000, 8080, 30000, 65535, 65536, 86401,
	1 << 20, 1<<31 - 1}

// scalar sets a string, a number or a bool.
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

// Likely values of a quantity, a number or a percentage.
var (
	quantities = []string{"1", "0", "-1", "100m", "1.5", "1Gi", "2Gi", "1e3", "1e30", "0.1m"}
	eithers    = []intstr.IntOrString{intstr.FromInt32(1), intstr.FromInt32(0), intstr.FromInt32(-1),
		intstr.FromInt32(80), intstr.FromInt32(70000), intstr.FromString("25%"), intstr.FromString("150%"),
		intstr.FromString("http"), intstr.FromString(""), intstr.FromString("Bad!"), intstr.FromString("-5%")}
	raws = []string{`{"a":1}`, `{"apiVersion":"v1","kind":"X"}`, `5`, `null`}
)

// atoms are types whose values are made as a whole.
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
