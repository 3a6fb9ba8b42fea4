package mutants

import (
	"reflect"
	"testing"

	"github.com/threelaws/threelaws/controllers/garbagecollector"
	"github.com/threelaws/threelaws/controllers/replicas"
)

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		if seen[m.Name] {
			t.Errorf("%s occurs twice", m.Name)
		}
		seen[m.Name] = true
		if m.Clause == "" || m.Sentence == "" {
			t.Errorf("%s lacks a clause or a sentence", m.Name)
		}
		if got, ok := Lookup(m.Name); !ok || got.Sentence != m.Sentence {
			t.Errorf("Lookup(%q) = %v, %v", m.Name, got, ok)
		}
		if c := m.Controller(); c.New == nil {
			t.Errorf("%s has no controller", m.Name)
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d mutants", len(seen))
	}
}

// Every guard that can be left out is left out by a mutant, and no mutant is
// the reference controller.
func TestEveryGuardHasAMutant(t *testing.T) {
	used := map[string]bool{}
	for _, m := range All() {
		var fields []string
		switch {
		case m.build.replicas != nil:
			var w replicas.Without
			m.build.replicas(&w)
			fields = set("replicas", reflect.ValueOf(w), true)
		case m.build.collector != nil:
			var w garbagecollector.Without
			m.build.collector(&w)
			fields = set("garbagecollector", reflect.ValueOf(w), true)
		default:
			continue
		}
		if len(fields) == 0 {
			t.Errorf("%s leaves out nothing", m.Name)
		}
		for _, f := range fields {
			used[f] = true
		}
	}
	all := append(set("replicas", reflect.ValueOf(replicas.Without{}), false),
		set("garbagecollector", reflect.ValueOf(garbagecollector.Without{}), false)...)
	for _, f := range all {
		if !used[f] {
			t.Errorf("no mutant leaves out %s", f)
		}
	}
}

// set lists the boolean fields of a struct with that value, nested ones included.
func set(prefix string, v reflect.Value, value bool) []string {
	var out []string
	for i := range v.NumField() {
		name := prefix + "." + v.Type().Field(i).Name
		switch f := v.Field(i); {
		case f.Kind() == reflect.Struct:
			out = append(out, set(name, f, value)...)
		case f.Bool() == value:
			out = append(out, name)
		}
	}
	return out
}
