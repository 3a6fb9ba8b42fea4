// Package wait stands in for the real one.
package wait

import "time"

type Backoff struct{ Steps int }

func Jitter(d time.Duration, f float64) time.Duration { return d }
func PollImmediate(d time.Duration, f func() bool)    {}
func JitterUntil(f func(), d time.Duration)           {}
