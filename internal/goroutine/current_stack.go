//go:build !amd64 && !arm64

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// Current returns the calling goroutine's ID: the number in the first line of its stack trace.
func Current() ID {
	var head [64]byte
	text := bytes.TrimPrefix(head[:runtime.Stack(head[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic("goroutine: the runtime prints stacks otherwise than is known here: " + string(head[:]))
	}
	return ID(n)
}
