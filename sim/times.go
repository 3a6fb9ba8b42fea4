package sim

import (
	"regexp"
	"strconv"
	"time"
)

// times matches times in the formats of RFC 3339 and of Go's Time.String, and numbers with as many digits as a Unix time in
// seconds, milliseconds, microseconds or nanoseconds.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?[+-]\d\d:?\d\d)?( ?(Z|UTC)\b)?( m=[+-][\d.]+)?|` +
	`\b\d{10}(\d{3}|\d{6}|\d{9})?\b`)

// Timeless replaces the times in a text by "(time)". A number is a time if it is a Unix time in the first year after Epoch.
func Timeless(text string) string {
	if len(text) < len("2006010215") {
		return text
	}
	return times.ReplaceAllStringFunc(text, func(found string) string {
		if n, err := strconv.ParseInt(found, 10, 64); err == nil {
			for n > 1e10 {
				n /= 1000
			}
			if at := time.Unix(n, 0); at.Before(Epoch) || at.After(Epoch.AddDate(1, 0, 0)) {
				return found
			}
		}
		return "(time)"
	})
}
