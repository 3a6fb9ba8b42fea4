package bubble

import (
	"context"
	"fmt"
	"runtime"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/threelaws/threelaws/internal/goroutine"
	"github.com/threelaws/threelaws/sim/host"
)

// lifeKey is the context key of a program's life.
type lifeKey struct{}

// toldOfPanic is a panic handler of utilruntime. The program whose goroutine panicked has ended, as its
// process would have: the goroutine exits instead of the Go process. A manager that recovers a panic by
// itself calls the handlers too. Nothing that comes after it is shown.
func toldOfPanic(ctx context.Context, why any) {
	l, is := ctx.Value(lifeKey{}).(*life)
	if !is {
		l = whoseHere()
	}
	if l == nil || l.sync {
		return
	}
	at, crashes := raised()
	l.ended(l.panicked(why, at))
	l.cancel()
	if crashes && utilruntime.ReallyCrash {
		runtime.Goexit()
	}
}

func (l *life) panicked(why any, at string) *host.Panic {
	p := &host.Panic{Text: fmt.Sprintf("%v, at %s", why, at)}
	if !l.sync {
		l.room.panic.Store(p)
	}
	return p
}

// raised returns the line of the panic in progress, and whether it passes through HandleCrash, which raises
// it again.
func raised() (at string, crashes bool) {
	at = goroutine.Raised(func(function string) { crashes = crashes || function == handlesCrash })
	return at, crashes
}

const handlesCrash = "k8s.io/apimachinery/pkg/util/runtime.handleCrash"

// whoseHere returns the life of the calling goroutine's program, if it is known.
func whoseHere() *life {
	var head [128]byte
	m := bubbled.FindSubmatch(head[:runtime.Stack(head[:], false)])
	if m == nil {
		return nil
	}
	if r, is := bubbles.Load(string(m[2])); is {
		return r.(*room).whose.Load()
	}
	return nil
}

// alone returns the life of the only program in a room without syncs. With several programs it is unknown
// whose goroutines run when time passes.
func (r *room) alone() (only *life) {
	if len(r.last) == 1 && len(r.syncs) == 0 {
		for _, only = range r.last {
		}
	}
	return only
}
