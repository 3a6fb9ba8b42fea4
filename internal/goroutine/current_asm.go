//go:build amd64 || arm64

package goroutine

// Current returns the calling goroutine's ID: the address of the runtime's descriptor.
func Current() ID { return ID(g()) }

// g returns the address of the runtime's descriptor of this goroutine. This takes a nanosecond. [runtime.Stack], which
// has the goroutine's number, takes microseconds.
func g() uintptr
