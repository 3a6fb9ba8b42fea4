package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// sameEnd is the name of the law same-end in the verb ensure. The law requires that the settled objects equal those of
// a quiet run of the same steps.
const sameEnd = "same-end"

// ends contains the settled worlds of the quiet runs for one step. A quiet run executes the steps before this step.
type ends struct {
	first, draws sync.Once       // guard the default run, and the random runs, which are rarely needed
	none         string          // why worlds cannot be compared with the default run; "" if they can
	drawsNone    string          // why worlds cannot be compared with the random runs; "" if they can
	end          end             // the settled world of the default run
	differ       map[string]bool // the kinds ("KIND") and fields ("KIND PATH") in which the runs differ
	failing      string          // the program that repeats an error at the end of the default run; "" for none
	last         time.Duration   // the latest virtual time at which one of the runs ended
}

// quietEnds caches the ends for each step that compares a world with quiet runs. All runs of a file share the cache.
type quietEnds struct {
	mu sync.Mutex
	of map[any]*ends
}

func (q *quietEnds) at(s any) *ends {
	if q == nil {
		return &ends{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		q.of = map[any]*ends{}
	}
	if q.of[s] == nil {
		q.of[s] = &ends{}
	}
	return q.of[s]
}

// end describes the objects of a settled world, by kind.
type end map[string]*endOf

// endOf describes the objects of a kind. For each field and value it contains the objects with this value.
type endOf struct {
	objects []string
	fields  map[string]map[string][]string // path of a field -> value -> objects
	others  bool                           // only controllers that are not under test have written a status
}

// walk calls note for each text, number and boolean below a field. The items of a list have the same path, but the
// field type of an item, such as Ready, becomes a part of its path. walk skips a condition with status False or Unknown,
// because another run may lack it if it was never True.
func walk(path string, value any, note func(path, value string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(path+"."+key, v[key], note)
		}
	case []any:
		for _, item := range v {
			at := path + "[]"
			if o, is := item.(map[string]any); is && o["type"] != nil {
				if o["status"] == "False" || o["status"] == "Unknown" {
					continue
				}
				at = fmt.Sprintf("%s[%v]", path, o["type"])
			}
			walk(at, item, note)
		}
	case nil:
	default:
		note(path, fmt.Sprint(v))
	}
}

// states reports whether a status value has few possible values, like a phase or a condition. Counters, times,
// generated texts and messages have many, and depend on earlier events.
func states(path, value string) bool {
	return !strings.HasSuffix(path, ".message") && !strings.ContainsFunc(value, func(c rune) bool {
		return unicode.IsDigit(c) || unicode.IsSpace(c)
	})
}

// withoutStatus removes the fields of each status.
func (e end) withoutStatus() end {
	for _, of := range e {
		maps.DeleteFunc(of.fields, func(path string, _ map[string][]string) bool { return strings.HasPrefix(path, "status.") })
	}
	return e
}

// differing adds to the set differ the kinds and fields in which two worlds differ.
func (e end) differing(from end, differ map[string]bool) {
	e.compare(from, func(path, _ string) { differ[path] = true })
}

// leaves returns what is not compared, and why. It returns "" if everything is compared.
func (q *ends) leaves() string {
	if none := cmp.Or(q.none, q.drawsNone); none != "" {
		return "nothing is compared: " + none
	}
	text := ""
	if q.failing != "" {
		text = fmt.Sprintf("the status is left out, since a quiet run ends while %s retries after an error", q.failing)
	}
	var fields []string
	for _, path := range slices.Sorted(maps.Keys(q.differ)) {
		if !strings.Contains(path, " ") {
			path = "the objects of kind " + path
		}
		fields = append(fields, path)
	}
	if n := len(fields); n > mostEnds {
		fields = append(fields[:mostEnds], fmt.Sprintf("%d more", n-mostEnds))
	}
	if len(fields) > 0 {
		text += strings.Repeat("; ", min(len(text), 1)) + "left out, since quiet runs differ there: " + strings.Join(fields, ", ")
	}
	return text
}

// mostEnds is the maximal number of differences in a text. Further differences are only counted.
const mostEnds = 3

// difference returns how the world differs from that of a quiet run, or "". It ignores the kinds and fields in ignored.
func (e end) difference(quiet end, ignored map[string]bool) string {
	var told []string
	e.compare(quiet, func(path, text string) {
		kind, _, _ := strings.Cut(path, " ")
		if !ignored[path] && !ignored[kind] {
			told = append(told, text)
		}
	})
	if n := len(told); n > mostEnds {
		told = append(told[:mostEnds], fmt.Sprintf("and %d more", n-mostEnds))
	}
	return strings.Join(told, "; ")
}

// compare calls found for each kind with different numbers of objects, and for each field with different values.
func (e end) compare(quiet end, found func(path, text string)) {
	for _, kind := range union(e, quiet) {
		here, there := e.kind(kind), quiet.kind(kind)
		if len(here.objects) != len(there.objects) {
			text := fmt.Sprintf("there are %d objects of kind %s, and %d in a quiet run", len(here.objects), kind, len(there.objects))
			switch more, less := without(here.objects, there.objects), without(there.objects, here.objects); {
			case len(less) == 0: // no names are listed if each world has some that the other lacks
				text += "; only here: " + strings.Join(more, ", ")
			case len(more) == 0:
				text += "; only there: " + strings.Join(less, ", ")
			}
			found(kind, text)
			continue
		}
		for _, path := range union(here.fields, there.fields) {
			if (here.others || there.others) && strings.HasPrefix(path, "status.") {
				continue
			}
			if text := told(kind, path, here.fields[path], there.fields[path]); text != "" {
				found(kind+" "+path, text)
			}
		}
	}
}

// without returns the first few names in a that are not in b.
func without(a, b []string) []string {
	a = slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
	return a[:min(len(a), mostEnds)]
}

func (e end) kind(name string) *endOf {
	if of := e[name]; of != nil {
		return of
	}
	return &endOf{}
}

// told describes the values of a field that differ from those of the quiet run. It returns "" if they are equal.
func told(kind, path string, here, there map[string][]string) string {
	less := false
	for _, value := range union(here, there) {
		switch has, had := here[value], there[value]; {
		case len(has) > len(had):
			names := without(has, had)
			was := otherwise(there, names)
			switch {
			case len(there) == 0:
				was = "not set"
			case len(had) > 0 && was == "":
				return fmt.Sprintf("%s is %s in %d objects of kind %s, and in %d in a quiet run", path, value, len(has), kind, len(had))
			}
			return fmt.Sprintf("%s: %s is %s, and %s in a quiet run", strings.Join(names, ", "), path, value, cmp.Or(was, quoted(there)))
		case len(has) < len(had):
			less = true
		}
	}
	if less {
		return fmt.Sprintf("%s is %s in fewer objects of kind %s than in a quiet run", path, quoted(there), kind)
	}
	return ""
}

// otherwise returns the values of a field in the named objects, or "".
func otherwise(field map[string][]string, names []string) string {
	var values []string
	for _, value := range slices.Sorted(maps.Keys(field)) {
		if slices.ContainsFunc(field[value], func(name string) bool { return slices.Contains(names, name) }) {
			values = append(values, value)
		}
	}
	return strings.Join(values, " or ")
}

func quoted(values map[string][]string) string { return strings.Join(union(values, nil), " or ") }

func union[V any](a, b map[string]V) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b)))))
}
