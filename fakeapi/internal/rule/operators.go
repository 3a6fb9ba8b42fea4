package rule

import (
	"cmp"
	"errors"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// combine makes an operator of two values.
func combine(op string, left, right expr) expr {
	if op == "&&" || op == "||" {
		return logical(left, right, op == "||")
	}
	return func(s *scope) (any, error) {
		a, b, err := both(s, left, right)
		if err != nil {
			return nil, err
		}
		switch op {
		case "==":
			return equalValues(a, b), nil
		case "!=":
			return !equalValues(a, b), nil
		case "in":
			return isIn(a, b)
		case "+", "-", "*":
			return compute(op, a, b)
		}
		order, err := compareValues(a, b)
		if err != nil {
			return nil, err
		}
		switch op {
		case "<":
			return order < 0, nil
		case "<=":
			return order <= 0, nil
		case ">":
			return order > 0, nil
		}
		return order >= 0, nil
	}
}

// logical is && or ||: one side that decides makes an error of the other not matter.
func logical(left, right expr, decides bool) expr {
	return func(s *scope) (any, error) {
		a, errA := left(s)
		if ok, is := a.(bool); errA == nil && is && ok == decides {
			return decides, nil
		}
		b, errB := right(s)
		if ok, is := b.(bool); errB == nil && is && ok == decides {
			return decides, nil
		}
		if err := errors.Join(errA, errB); err != nil {
			return nil, cmp.Or(errA, errB)
		}
		_, is1 := a.(bool)
		_, is2 := b.(bool)
		if !is1 || !is2 {
			return nil, errOverload
		}
		return !decides, nil
	}
}

func equalValues(a, b any) bool {
	if x, ok := asNumber(a); ok {
		if y, ok := asNumber(b); ok {
			return x == y
		}
	}
	return same.JSON(a, b)
}

// asNumber is a value as a floating point number, if it is a number.
func asNumber(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func compareValues(a, b any) (int, error) {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y), nil
		}
	}
	x, ok1 := asNumber(a)
	y, ok2 := asNumber(b)
	if !ok1 || !ok2 {
		return 0, errOverload
	}
	return cmp.Compare(x, y), nil
}

func isIn(item, of any) (any, error) {
	switch of := of.(type) {
	case []any:
		for _, one := range of {
			if equalValues(item, one) {
				return true, nil
			}
		}
		return false, nil
	case map[string]any:
		if key, ok := item.(string); ok {
			_, found := of[key]
			return found, nil
		}
	}
	return nil, errOverload
}

var errOverflow = errors.New("integer overflow")

func compute(op string, a, b any) (any, error) {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok1 && ok2 {
		return computeInt(op, x, y)
	}
	if s, ok := a.(string); ok && op == "+" {
		if t, ok := b.(string); ok {
			return s + t, nil
		}
	}
	f, ok1 := asNumber(a)
	g, ok2 := asNumber(b)
	if !ok1 || !ok2 {
		return nil, errOverload
	}
	switch op {
	case "+":
		return f + g, nil
	case "-":
		return f - g, nil
	}
	return f * g, nil
}

func computeInt(op string, x, y int64) (any, error) {
	switch op {
	case "+":
		if sum := x + y; (sum > x) == (y > 0) {
			return sum, nil
		}
	case "-":
		if diff := x - y; (diff < x) == (y > 0) {
			return diff, nil
		}
	case "*":
		if product := x * y; x == 0 || product/x == y && !(x == -1 && y == product && y < 0) {
			return product, nil
		}
	}
	return nil, errOverflow
}
