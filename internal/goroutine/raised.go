package goroutine

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
)

// within matches functions of the Go runtime, of threelaws and of libraries that controllers call. See [Within].
var within = regexp.MustCompile(`^(runtime|sync|time|internal/[a-z/]+|context|iter|golang\.org/x/sync/errgroup|` +
	`sigs\.k8s\.io/controller-runtime/[^.]*|github\.com/threelaws/threelaws/` +
	`(sim|sim/host|sim/bubble|fakeapi|controllerruntime))\.`)

// Within reports whether a function, named as in [runtime.Frame], belongs to the Go runtime, threelaws or a library of
// controllers. All other functions count as functions of controllers.
func Within(function string) bool { return within.MatchString(function) }

// Place formats a source line with the last two elements of the file's path, which are the same on every machine.
func Place(file string, line int) string {
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(file)), path.Base(file), line)
}

// Raised returns the line of the controller that caused the current panic, in the form of [Place]. It returns "" if no
// function of a controller led to the panic. If each is not nil, Raised calls it with every function on the stack.
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
