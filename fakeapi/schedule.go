package fakeapi

import (
	"fmt"
	"strconv"
	"strings"
)

// bound is one field of a cron schedule.
type bound struct {
	low, high int
	names     string // of the values from low on, separated by spaces
}

var bounds = [5]bound{{0, 59, ""}, {0, 23, ""}, {1, 31, ""},
	{1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"}, {0, 6, "sun mon tue wed thu fri sat"}}

// checkSchedule says what is wrong with a cron schedule, in the words of the
// library that the real server reads it with.
func checkSchedule(text string) error {
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		_, text, _ = strings.Cut(text, " ")
		text = strings.TrimSpace(text)
	}
	if strings.HasPrefix(text, "@") {
		switch text {
		case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
			return nil
		}
		if strings.HasPrefix(text, "@every ") {
			return nil
		}
		return fmt.Errorf("unrecognized descriptor: %s", text)
	}
	parts := strings.Fields(text)
	if len(parts) != 5 {
		return fmt.Errorf("expected exactly 5 fields, found %d: %s", len(parts), parts)
	}
	for i, part := range parts {
		for _, expr := range strings.FieldsFunc(part, func(r rune) bool { return r == ',' }) {
			if err := bounds[i].check(expr); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b bound) check(expr string) error {
	span := strings.Split(expr, "/")
	ends := strings.Split(span[0], "-")
	low, high := b.low, b.high
	var err error
	if ends[0] != "*" && ends[0] != "?" {
		if low, err = b.value(ends[0]); err != nil {
			return err
		}
		switch len(ends) {
		case 1:
			if len(span) == 1 {
				high = low
			}
		case 2:
			if high, err = b.value(ends[1]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("too many hyphens: %s", expr)
		}
	}
	step := 1
	switch len(span) {
	case 1:
	case 2:
		if step, err = number10(span[1]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("too many slashes: %s", expr)
	}
	switch {
	case low < b.low:
		return fmt.Errorf("beginning of range (%d) below minimum (%d): %s", low, b.low, expr)
	case high > b.high:
		return fmt.Errorf("end of range (%d) above maximum (%d): %s", high, b.high, expr)
	case low > high:
		return fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", low, high, expr)
	case step == 0:
		return fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	return nil
}

func (b bound) value(text string) (int, error) {
	for i, name := range strings.Fields(b.names) {
		if name == strings.ToLower(text) {
			return b.low + i, nil
		}
	}
	return number10(text)
}

func number10(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %s", text, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, text)
	}
	return n, nil
}
