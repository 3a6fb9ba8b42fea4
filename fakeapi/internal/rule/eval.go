package rule

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// scope is what a rule can see.
type scope struct {
	now, was any
	outer    *scope
	name     string // a variable of a macro, with its value
	value    any
}

// expr is a part of a rule, ready to be evaluated.
type expr func(*scope) (any, error)

var errOverload = errors.New("no such overload")

// errNoKey says that a field is not there.
type errNoKey struct{ name string }

func (e errNoKey) Error() string { return "no such key: " + e.name }

func constant(value any) expr { return func(*scope) (any, error) { return value, nil } }

func variable(name string) expr {
	return func(s *scope) (any, error) {
		for ; s.outer != nil; s = s.outer {
			if s.name == name {
				return s.value, nil
			}
		}
		if name == "oldSelf" {
			return s.was, nil
		}
		return s.now, nil
	}
}

func listOf(items []expr) expr {
	return func(s *scope) (any, error) {
		list := make([]any, len(items))
		for i, item := range items {
			value, err := item(s)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	}
}

func fieldOf(of expr, name string) expr {
	return func(s *scope) (any, error) {
		value, err := of(s)
		if err != nil {
			return nil, err
		}
		m, ok := value.(map[string]any)
		if !ok {
			return nil, errOverload
		}
		if found, ok := m[name]; ok {
			return found, nil
		}
		return nil, errNoKey{name}
	}
}

func elementOf(of, index expr) expr {
	return func(s *scope) (any, error) {
		value, at, err := both(s, of, index)
		if err != nil {
			return nil, err
		}
		switch value := value.(type) {
		case map[string]any:
			if key, ok := at.(string); ok {
				if found, ok := value[key]; ok {
					return found, nil
				}
				return nil, errNoKey{key}
			}
		case []any:
			if i, ok := at.(int64); ok {
				if i < 0 || i >= int64(len(value)) {
					return nil, fmt.Errorf("index out of bounds: %d", i)
				}
				return value[i], nil
			}
		}
		return nil, errOverload
	}
}

// has says whether a field is there; what it is a field of has to be.
func has(value expr) expr {
	return func(s *scope) (any, error) {
		_, err := value(s)
		if missing := (errNoKey{}); errors.As(err, &missing) {
			return false, nil
		}
		return err == nil, err
	}
}

func sizeOf(of expr) expr {
	return func(s *scope) (any, error) {
		value, err := of(s)
		if err != nil {
			return nil, err
		}
		switch value := value.(type) {
		case string:
			return int64(utf8.RuneCountInString(value)), nil
		case []any:
			return int64(len(value)), nil
		case map[string]any:
			return int64(len(value)), nil
		}
		return nil, errOverload
	}
}

func textTest(name string, of, argument expr) expr {
	return func(s *scope) (any, error) {
		a, b, err := both(s, of, argument)
		if err != nil {
			return nil, err
		}
		text, ok1 := a.(string)
		part, ok2 := b.(string)
		if !ok1 || !ok2 {
			return nil, errOverload
		}
		switch name {
		case "startsWith":
			return strings.HasPrefix(text, part), nil
		case "endsWith":
			return strings.HasSuffix(text, part), nil
		case "contains":
			return strings.Contains(text, part), nil
		}
		return regexp.MatchString(part, text)
	}
}

// every is all, or, when not all, exists: over the items of a list or the keys
// of a map.
func every(of expr, name string, body expr, all bool) expr {
	return func(s *scope) (any, error) {
		value, err := of(s)
		if err != nil {
			return nil, err
		}
		var items []any
		switch value := value.(type) {
		case []any:
			items = value
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				items = append(items, key)
			}
		default:
			return nil, errOverload
		}
		var failed error
		for _, item := range items {
			found, err := body(&scope{outer: s, name: name, value: item})
			ok, is := found.(bool)
			switch {
			case err != nil:
				failed = err
			case !is:
				failed = errOverload
			case ok != all:
				return !all, nil
			}
		}
		return all, failed
	}
}

func both(s *scope, a, b expr) (x, y any, err error) {
	if x, err = a(s); err == nil {
		y, err = b(s)
	}
	return x, y, err
}

func negate(of expr) expr {
	return func(s *scope) (any, error) {
		value, err := of(s)
		if ok, is := value.(bool); is && err == nil {
			return !ok, nil
		} else if err == nil {
			err = errOverload
		}
		return nil, err
	}
}

func choose(condition, yes, no expr) expr {
	return func(s *scope) (any, error) {
		value, err := condition(s)
		ok, is := value.(bool)
		switch {
		case err != nil:
			return nil, err
		case !is:
			return nil, errOverload
		case ok:
			return yes(s)
		}
		return no(s)
	}
}
