package host

// strayError is a sync whose goroutines do not come to an end, or not with it.
type strayError struct{ what string }

// Error says which.
func (e *strayError) Error() string { return e.what }

// Stray is the error of a [Program] that runs a sync in which nothing can happen any more,
// with the goroutines that wait.
func Stray(what string) error { return &strayError{what} }
