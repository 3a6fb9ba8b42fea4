package bubble

import (
	"fmt"

	"github.com/threelaws/threelaws/sim/host"
)

// givenUp holds rooms with programs that never settled. The value is true if one of their goroutines still
// runs, which takes the processor from all others. roomsMu guards it.
var givenUp = map[*room]bool{}

// giveUp abandons a room, since nothing can end its goroutines. If they settle after all, the room is closed.
func (r *room) giveUp(runs bool) {
	r.forget()
	roomsMu.Lock()
	givenUp[r] = runs
	roomsMu.Unlock()
	go func() {
		<-r.done
		close(r.do)
		<-r.left
		roomsMu.Lock()
		delete(givenUp, r)
		roomsMu.Unlock()
	}()
}

// refuse panics if a program would wait without effect: it never settled before, or one that still runs has
// the processor. Otherwise each world would wait out its patience again.
func refuse(name string) {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	for r, runs := range givenUp {
		if runs || r.hosts[name] {
			panic(host.Misuse(fmt.Sprintf("%s is not hosted: a program of this Go process has not come to rest in a "+
				"world before, and has not to this day; it was told there what it is at", name)))
		}
	}
}
