package bubble

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/threelaws/threelaws/sim/host"
)

// lifeKey is where the context of a program has its life.
type lifeKey struct{}

// toldOfPanic is a panic handler of utilruntime. The program whose goroutine panicked has ended, as its
// process would have: the goroutine ends in place of the Go process. What a manager recovers by itself it
// tells the handlers, too; nothing that comes after it is shown.
func toldOfPanic(ctx context.Context, why any) {
	l, is := ctx.Value(lifeKey{}).(*life)
	if !is {
		l = whoseHere()
	}
	if l == nil || l.sync {
		return
	}
	at, crashes := raised()
	l.panicked(why, at)
	if crashes && utilruntime.ReallyCrash {
		runtime.Goexit()
	}
}

// panicked ends the life.
func (l *life) panicked(why any, at string) {
	l.mu.Lock()
	if !l.over {
		l.over, l.err = true, &host.Panic{Text: fmt.Sprintf("%v, at %s", why, at)}
	}
	l.mu.Unlock()
	l.room.cut.Store(true)
	l.cancel()
	l.room.kick()
}

// crashed reports whether a program has ended by a panic: who waits for the goroutine that it was on stays.
func crashed(err error) bool {
	p := (*host.Panic)(nil)
	return errors.As(err, &p)
}

// ended is the panic that ended the life, nil if it has not.
func (l *life) ended() (p *host.Panic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	errors.As(l.err, &p)
	return p
}

// raised is the line of the last panic that is going on, and whether it is on its way through HandleCrash,
// which raises it again.
func raised() (at string, crashes bool) {
	var pcs [128]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			at = ""
		case f.Function == handlesCrash:
			crashes = true
		case at == "" && !within.MatchString(f.Function):
			at = place(f.File, f.Line)
		}
	}
	return at, crashes
}

const handlesCrash = "k8s.io/apimachinery/pkg/util/runtime.handleCrash"

// whoseHere is the life whose goroutine it is that calls: of what was told something just now, or where
// time passed, of the only program in its bubble. Of several nobody knows without a context.
func whoseHere() *life {
	var head [128]byte
	m := bubbled.FindSubmatch(head[:runtime.Stack(head[:], false)])
	if m == nil {
		return nil
	}
	is, _ := bubbles.Load(string(m[2]))
	r, _ := is.(*room)
	switch {
	case r == nil:
		return nil
	case r.acts != nil:
		return r.acts
	case len(r.last) != 1 || len(r.syncs) > 0:
		return nil
	}
	for _, l := range r.last {
		return l
	}
	return nil
}
