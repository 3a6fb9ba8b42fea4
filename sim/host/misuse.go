package host

// Misuse is the host's panic for a controller that is wired wrongly. Such a controller cannot run under any
// schedule.
type Misuse string

// Error returns the mistake in one line.
func (m Misuse) Error() string { return "host: " + string(m) }
