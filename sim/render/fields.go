package render

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// fieldChanges names the fields below spec and the like that a write changed,
// and whether status changed.
func fieldChanges(r *sim.Record) (spec string, status bool) {
	before, after := reflect.Indirect(reflect.ValueOf(r.Before)), reflect.Indirect(reflect.ValueOf(r.After))
	if before.Kind() != reflect.Struct || before.Type() != after.Type() {
		return "", false
	}
	var names []string
	for i := range before.NumField() {
		f := before.Type().Field(i)
		if f.Name == "ObjectMeta" || f.Name == "TypeMeta" || reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			continue
		}
		if f.Name == "Status" {
			status = true
			continue
		}
		names = append(names, structChanges(f, before.Field(i), after.Field(i))...)
	}
	return strings.Join(names, ", "), status
}

// structChanges goes one level down into spec; replicas are shown as numbers.
func structChanges(f reflect.StructField, before, after reflect.Value) []string {
	top := jsonName(f)
	if f.Type.Kind() != reflect.Struct {
		return []string{top}
	}
	var names []string
	for i := range before.NumField() {
		g := before.Type().Field(i)
		x, y := before.Field(i), after.Field(i)
		if reflect.DeepEqual(x.Interface(), y.Interface()) {
			continue
		}
		name := jsonName(g)
		if name == "replicas" {
			names = append(names, fmt.Sprintf("replicas: %s -> %s", value(x), value(y)))
		} else {
			names = append(names, top+"."+name)
		}
	}
	return names
}

func value(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "none"
		}
		v = v.Elem()
	}
	return fmt.Sprint(v.Interface())
}

// jsonName is what a field is called in an object's JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
