package cli

import (
	"encoding/json"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios/builtin"
)

// Every command says what it prints with --json, and names every key of it in
// lowerCamel, in a tag of its own. What test prints is go test's.
func TestEveryCommandListsItsJSON(t *testing.T) {
	a := &app{registry: builtin.Registry(), console: console{out: io.Discard}}
	for _, c := range rootCommand(a, new(error)).Commands() {
		if c.Name() != "test" && !slices.ContainsFunc(outputs, func(o output) bool { return o.command == c.Name() }) {
			t.Errorf("%s says nothing of what it prints with --json", c.Name())
		}
	}
	for _, o := range outputs {
		untagged(t, o.command, o.value, map[reflect.Type]bool{})
	}
	camel := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	for _, o := range describeOutputs("") {
		if len(o.Keys) == 0 {
			t.Errorf("%s has no keys", o.Command)
		}
		for _, k := range o.Keys {
			for word := range strings.SplitSeq(k.Key, ".") {
				if word = strings.TrimSuffix(word, "[]"); word != "" && !camel.MatchString(word) {
					t.Errorf("%s: key %s is not in lowerCamel", o.Command, k.Key)
				}
			}
		}
	}
}

// untagged complains of exported fields without a key of their own.
func untagged(t *testing.T, command string, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Map {
		t.Errorf("%s: %s has keys that are nowhere listed", command, typ)
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return
	}
	seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.IsExported() && !f.Anonymous && f.Tag.Get("json") == "" {
			t.Errorf("%s: %s.%s has no json tag", command, typ, f.Name)
		}
		if f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous) {
			untagged(t, command, f.Type, seen)
		}
	}
}

// What is printed has no key that is not listed, and all that are not left out.
func TestPrintedKeysAreListed(t *testing.T) {
	work(t)
	for _, c := range []struct {
		args  string
		index int // in outputs, of those of the command
	}{
		{"run testdata", 0}, {"explore -n 20 --era selector testdata/settles.txtar", 0},
		{"replay testdata/breaks.txtar", 0}, {"show testdata/fights.txtar", 0},
		{"show --as timeline testdata/fights.txtar", 1}, {"show --as tree testdata/settles.txtar", 2},
		{"show --as dot testdata/settles.txtar", 2}, {"laws", 0},
		{"version", 0}, {"completion fish", 0}, {"help", 0}, {"help run", 0}, {"help scenario", 1}, {"help json", 2},
	} {
		command := strings.Fields(c.args)[0]
		listed, required := map[string]bool{}, []string{}
		for _, k := range describeOutputs(command)[c.index].Keys {
			listed[k.Key] = true
			if !k.Optional && !strings.ContainsAny(k.Key, ".[") {
				required = append(required, k.Key)
			}
		}
		got := cli(t, append([]string{"--json"}, strings.Fields(c.args)...)...)
		seen := map[string]bool{}
		for d := json.NewDecoder(strings.NewReader(got.out)); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%s: %v", c.args, err)
			}
			printed(v, "", seen)
		}
		for k := range seen {
			if !listed[k] && !strings.Contains(k, "commands[].") {
				t.Errorf("%s: key %s is not listed", c.args, k)
			}
		}
		for _, k := range required {
			if !seen[k] {
				t.Errorf("%s: key %s is not printed", c.args, k)
			}
		}
	}
}

// apiObjects are keys whose values are the API's.
var apiObjects = []string{"before", "after", "saw", "sawFor"}

// printed notes the keys of a value, as "help json" lists them.
func printed(v any, at string, seen map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			printed(e, at+"[]", seen)
		}
	case map[string]any:
		for k, e := range v {
			key := strings.TrimPrefix(at+"."+k, ".")
			seen[key] = true
			if _, text := e.(string); text || !slices.Contains(apiObjects, k) {
				printed(e, key, seen)
			}
		}
	}
}
