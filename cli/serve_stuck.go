package cli

import (
	"fmt"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// stuckAfter is how many syncs of an object fail in a row before that is told: a conflict, or a cache
// that is late, is over before.
const stuckAfter = 5

// stuck tells once of each object that a controller of the server fails at again and again.
type stuck struct {
	failed map[failing]int
	tell   func(process, object, text string)
}

// failing is a controller at an object.
type failing struct{ process, object string }

// Observe counts the failures in a row. A sync that succeeds ends them, that of an object which
// has gone, too.
func (s *stuck) Observe(r *sim.Record) {
	if r.Op != sim.SyncEnd {
		return
	}
	at := failing{r.Process, r.Object.String()}
	if r.Message == "" {
		delete(s.failed, at)
		return
	}
	if s.failed[at]++; s.failed[at] == stuckAfter {
		object := at.object
		if r.Object.Kind == "" {
			object = "" // a key of the collector's is no object's name
		}
		s.tell(at.process, object, render.WithoutUIDs(r.Message))
	}
}

// fails tells of an object that a controller can do nothing with.
func (t *teller) fails(process, object, text string) {
	at := ""
	if object != "" {
		at = " at " + object
	}
	t.say(serveLine{Event: "fails", By: []string{process}, Object: object, Text: text},
		fmt.Sprintf("%s fails%s, %d times by now, and tries again ever more rarely: %s", process, at, stuckAfter, text))
}
