package host

// Misuse is what the host panics with where a controller is wired wrongly: it
// cannot be run, whatever the schedule.
type Misuse string

// Error is the mistake in one line.
func (m Misuse) Error() string { return "host: " + string(m) }
