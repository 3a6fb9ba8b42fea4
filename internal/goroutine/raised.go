package goroutine

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
)

// within are the packages between a line of a controller and the request that it sends, or
// what it waits for, or in which it panics.
var within = regexp.MustCompile(`^(runtime|sync|time|internal/[a-z/]+|context|iter|golang\.org/x/sync/errgroup|` +
	`sigs\.k8s\.io/controller-runtime/[^.]*|github\.com/threelaws/threelaws/` +
	`(sim|sim/host|sim/bubble|fakeapi|controllerruntime))\.`)

// Within reports whether a function is none of a controller's own, but one that it runs in or calls.
func Within(function string) bool { return within.MatchString(function) }

// Place is a line, by the last two parts of its file's path: the same on every machine.
func Place(file string, line int) string {
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(file)), path.Base(file), line)
}

// Raised is the line of a controller at which the last panic was raised that is being recovered, "" where it was
// none's. Where each is not nil it is told all functions that the goroutine is in.
func Raised(each func(function string)) (at string) {
	var pcs [128]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			at = ""
		case at == "" && !Within(f.Function):
			at = Place(f.File, f.Line)
		}
		if each != nil {
			each(f.Function)
		}
	}
	return at
}
