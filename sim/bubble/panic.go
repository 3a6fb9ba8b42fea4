package bubble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

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
		l = aloneHere()
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
	l.cancel()
	l.room.kick()
}

// crashed reports whether a program has ended by a panic: who waits for the goroutine that it was on stays.
func crashed(err error) bool {
	p := (*host.Panic)(nil)
	return errors.As(err, &p)
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

// aloneHere is the life of the only program in the bubble that the calling goroutine is in: of several
// nobody knows whose goroutine it is without a context.
func aloneHere() *life {
	var head [128]byte
	m := bubbled.FindSubmatch(head[:runtime.Stack(head[:], false)])
	if m == nil {
		return nil
	}
	roomsMu.Lock()
	defer roomsMu.Unlock()
	for _, r := range rooms {
		if r.name != string(m[2]) {
			continue
		}
		if r.livesMu.Lock(); len(r.lives) != 1 {
			r.livesMu.Unlock()
			return nil
		}
		defer r.livesMu.Unlock()
		return r.lives[0]
	}
	return nil
}

// bear and bury keep the list of those who live in a room.
func (r *room) bear(l *life) {
	r.livesMu.Lock()
	defer r.livesMu.Unlock()
	r.lives = append(r.lives, l)
}

func (r *room) bury(l *life) {
	r.livesMu.Lock()
	defer r.livesMu.Unlock()
	r.lives = slices.DeleteFunc(r.lives, func(o *life) bool { return o == l })
}
