package goroutine

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
)

// within matches the packages that can lie on the stack between a controller's line and its request, its wait, or its
// panic.
var within = regexp.MustCompile(`^(runtime|sync|time|internal/[a-z/]+|context|iter|golang\.org/x/sync/errgroup|` +
	`sigs\.k8s\.io/controller-runtime/[^.]*|github\.com/threelaws/threelaws/` +
	`(sim|sim/host|sim/bubble|fakeapi|controllerruntime))\.`)

// Within reports whether a function is not part of a controller, but runs it or is called by it.
func Within(function string) bool { return within.MatchString(function) }

// Place returns a source line with the last two elements of its file's path, which is the same on every machine.
func Place(file string, line int) string {
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(file)), path.Base(file), line)
}

// Raised returns the controller's line that raised the panic being recovered. It returns "" if no controller's line
// raised it. If each is not nil, it is called with all functions on the goroutine's stack.
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
