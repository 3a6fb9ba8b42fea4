package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// SameEnd is what the verb ensure names to require the law of this name: the settled objects are those of a quiet run
// of the same steps.
const SameEnd = "same-end"

// ends are how quiet runs of the steps before one end.
type ends struct {
	once   sync.Once
	none   string // why nothing is compared; "" where something is
	end    end    // of the default schedule
	differ map[string]bool
	last   time.Duration // when the last of the runs ended
}

// quietEnds are those before each step of a file that compares them. Several runs share them.
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

// end is a settled world by kind.
type end map[string]*endOf

// endOf is what the objects of a kind are like: which objects have a value in a field.
type endOf struct {
	objects int
	fields  map[string]map[string][]string
}

// walk calls note for each text, number and truth value below a field. Items of lists have one path, or one for each
// type where they have a type.
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
				at = fmt.Sprintf("%s[%v]", path, o["type"])
			}
			walk(at, item, note)
		}
	case nil:
	default:
		note(path, fmt.Sprint(v))
	}
}

// states reports whether a value of a status is one of few that it may have, as a phase or a condition. Counters,
// times, generated texts and messages depend on what happened on the way.
func states(path, value string) bool {
	return !strings.HasSuffix(path, ".message") && !strings.ContainsFunc(value, func(c rune) bool {
		return unicode.IsDigit(c) || unicode.IsSpace(c)
	})
}

// differing notes the kinds and the fields in which two worlds differ.
func (e end) differing(from end, differ map[string]bool) {
	e.compare(from, func(path, _ string) { differ[path] = true })
}

// leaves says what is not compared, and why.
func (q *ends) leaves() string {
	if q.none != "" {
		return "nothing is compared: " + q.none
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
	if len(fields) == 0 {
		return ""
	}
	return "left out, since quiet runs differ there: " + strings.Join(fields, ", ")
}

// mostEnds is the number of differences in a text; the others are counted.
const mostEnds = 3

// difference tells in what the world differs from a quiet one, but for what does not count: "" for nothing.
func (e end) difference(quiet end, not map[string]bool) string {
	var told []string
	e.compare(quiet, func(path, text string) {
		kind, _, _ := strings.Cut(path, " ")
		if !not[path] && !not[kind] {
			told = append(told, text)
		}
	})
	if n := len(told); n > mostEnds {
		told = append(told[:mostEnds], fmt.Sprintf("and %d more", n-mostEnds))
	}
	return strings.Join(told, "; ")
}

// compare calls found for each kind whose objects are more or fewer than in the quiet world, and each field in which
// those of a kind differ.
func (e end) compare(quiet end, found func(path, text string)) {
	for _, kind := range union(e, quiet) {
		here, there := e.kind(kind), quiet.kind(kind)
		if here.objects != there.objects {
			found(kind, fmt.Sprintf("there are %d objects of kind %s, and %d in a quiet run", here.objects, kind, there.objects))
			continue
		}
		for _, path := range union(here.fields, there.fields) {
			if text := told(kind, path, here.fields[path], there.fields[path]); text != "" {
				found(kind+" "+path, text)
			}
		}
	}
}

func (e end) kind(name string) *endOf {
	if of := e[name]; of != nil {
		return of
	}
	return &endOf{}
}

// told puts the values of a field side by side with those of the quiet run, "" where they are the same.
func told(kind, path string, here, there map[string][]string) string {
	less := false
	for _, value := range union(here, there) {
		switch has := here[value]; {
		case len(has) > len(there[value]) && len(there) == 0:
			return fmt.Sprintf("%s: %s is %s, and not set in a quiet run", strings.Join(has, ", "), path, value)
		case len(has) > len(there[value]):
			return fmt.Sprintf("%s: %s is %s, and %s in a quiet run", strings.Join(has, ", "), path, value, quoted(there))
		case len(has) < len(there[value]):
			less = true
		}
	}
	if less {
		return fmt.Sprintf("%s is %s in fewer objects of kind %s than in a quiet run", path, quoted(there), kind)
	}
	return ""
}

func quoted(values map[string][]string) string { return strings.Join(union(values, nil), " or ") }

// union are the keys of two maps, in order.
func union[V any](a, b map[string]V) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b)))))
}
