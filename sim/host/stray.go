package host

// strayError is the error of a sync whose goroutines never end, or outlive it.
type strayError struct{ what string }

func (e *strayError) Error() string { return e.what }

// Stray returns the error of a [Program] whose sync has not returned and in which nothing can happen any
// more. The text names the waiting goroutines.
func Stray(what string) error { return &strayError{what} }
