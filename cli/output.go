package cli

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/clientfault"
	"github.com/threelaws/threelaws/internal/render"
)

// output describes a JSON document that a command prints.
type output struct {
	command string
	when    string // the condition under which the document is printed; "" for always
	lines   bool   // there is a document on each line
	value   reflect.Type
}

// outputs lists all documents that commands print with --json. "help json" describes their keys.
var outputs = []output{
	{"run", "", false, reflect.TypeFor[runReport]()},
	{"explore", "one document for each file", false, reflect.TypeFor[exploration]()},
	{"merge", "", false, reflect.TypeFor[[]merged]()},
	{"check", "", false, reflect.TypeFor[checkReport]()},
	{"init", "", false, reflect.TypeFor[initJSON]()},
	{"check", "with -o json-lines", true, reflect.TypeFor[checkLine]()},
	{"replay", "", false, reflect.TypeFor[replayed]()},
	{"show", "with --as json, or without --as", true, reflect.TypeFor[recordJSON]()},
	{"show", "with --as timeline", false, reflect.TypeFor[[]render.Line]()},
	{"show", "with --as tree, dot, html or svg", false, reflect.TypeFor[drawn]()},
	{"laws", "", false, reflect.TypeFor[[]lawJSON]()},
	{"judge", "", false, reflect.TypeFor[judgement]()},
	{"judge", "with --tree", false, reflect.TypeFor[drawn]()},
	{"watch", "", true, reflect.TypeFor[watchLine]()},
	{"serve", "", true, reflect.TypeFor[serveLine]()},
	{"faults", "", false, reflect.TypeFor[[]clientfault.Shown]()},
	{"overlay", "", false, reflect.TypeFor[overlayJSON]()},
	{"version", "", false, reflect.TypeFor[versionJSON]()},
	{"completion", "", false, reflect.TypeFor[completionJSON]()},
	{"help", "of a command", false, reflect.TypeFor[commandJSON]()},
	{"help", "of the verbs", false, reflect.TypeFor[[]verbJSON]()},
	{"help", "of the keys", false, reflect.TypeFor[[]outputJSON]()},
}

type outputJSON struct {
	Command string    `json:"command"`
	When    string    `json:"when,omitempty"`
	Lines   bool      `json:"lines,omitempty"` // there is a document on each line
	Keys    []keyJSON `json:"keys"`
}

type keyJSON struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Optional bool   `json:"optional,omitempty"` // the key is left out if the value is empty
}

func describeOutputs(command string) []outputJSON {
	var all []outputJSON
	for _, o := range outputs {
		if command != "" && o.command != command {
			continue
		}
		j := outputJSON{Command: o.command, When: o.when, Lines: o.lines}
		at := ""
		t := o.value
		if t.Kind() == reflect.Slice {
			at, t = "[]", t.Elem()
		}
		j.Keys = keysOf(t, at, nil)
		all = append(all, j)
	}
	return all
}

func keysOf(t reflect.Type, at string, within []reflect.Type) []keyJSON {
	var keys []keyJSON
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			keys = append(keys, keysOf(pointee(f.Type), at, within)...)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		key := keyJSON{Key: strings.TrimPrefix(at+"."+name, "."), Optional: strings.HasPrefix(options, "omit")}
		inner, list := pointee(f.Type), ""
		if inner.Kind() == reflect.Slice {
			inner, list = pointee(inner.Elem()), "[]"
		}
		key.Type = list + typeName(inner)
		keys = append(keys, key)
		if inner.Kind() == reflect.Struct && !slices.Contains(within, inner) {
			keys = append(keys, keysOf(inner, key.Key+list, append(slices.Clone(within), inner))...)
		}
	}
	return keys
}

func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "nanoseconds"
	case t.Kind() == reflect.Bool, t.Kind() == reflect.String:
		return t.Kind().String()
	case t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() == reflect.Interface:
		return "object of the API"
	}
	return "number"
}
