package bubble

import (
	"fmt"

	"github.com/threelaws/threelaws/sim/host"
)

// givenUp are the rooms of programs that did not come to rest, and have not to this day, with
// what they ran; true where a goroutine of it runs on, and takes the processor from all others.
// Under roomsMu, as what is below.
var givenUp = map[*room]bool{}

// giveUp leaves a room to itself: nobody can end its goroutines. Should they come to rest after
// all, the room is closed.
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

// refuse panics where a program would wait in vain: it did before, or one that runs on has the
// processor. Each would be found out after its time, one world after the other.
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
