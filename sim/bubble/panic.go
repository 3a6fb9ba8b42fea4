package bubble

import (
	"context"
	"fmt"
	"runtime"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/threelaws/threelaws/internal/goroutine"
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
	l.ended(l.panicked(why, at))
	l.cancel()
	if crashes && utilruntime.ReallyCrash {
		runtime.Goexit()
	}
}

// panicked is the panic that has ended the life.
func (l *life) panicked(why any, at string) *host.Panic {
	p := &host.Panic{Text: fmt.Sprintf("%v, at %s", why, at)}
	if !l.sync {
		l.room.panic.Store(p)
	}
	return p
}

// raised is the line of the last panic that is going on, and whether it is on its way through HandleCrash,
// which raises it again.
func raised() (at string, crashes bool) {
	at = goroutine.Raised(func(function string) { crashes = crashes || function == handlesCrash })
	return at, crashes
}

const handlesCrash = "k8s.io/apimachinery/pkg/util/runtime.handleCrash"

// whoseHere is the life whose goroutine it is that calls.
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

// alone is the life of the only program in a room, where time passes and no sync is going on: of several
// nobody knows whose goroutines run then.
func (r *room) alone() (only *life) {
	if len(r.last) == 1 && len(r.syncs) == 0 {
		for _, only = range r.last {
		}
	}
	return only
}
