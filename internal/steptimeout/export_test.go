package steptimeout

import "time"

// Hurry makes the watchdog check at short intervals, and report to told, until undo is called.
func Hurry(each time.Duration, told func(text string)) (undo func()) {
	was, barked := tick, bark
	tick, bark = each, told
	return func() { tick, bark = was, barked }
}
