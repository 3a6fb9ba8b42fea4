package watchdog

import "time"

// Hurry has steps watched closely, and has somebody else told of one that does not end, until it is undone.
func Hurry(each time.Duration, told func(text string)) (undo func()) {
	was, barked := tick, bark
	tick, bark = each, told
	return func() { tick, bark = was, barked }
}
