package host

import (
	"fmt"
	"time"
)

// mostSlow is how many seconds a write of a slow process takes at most.
const mostSlow = 2

// slow makes each write of a process take a second or two from now on. Otherwise no time passes between a
// write and its consequences, and a controller that writes the time of day in each reconcile finds nothing to
// change.
var slow = &fault{
	name: "slow",
	strikes: func(p *Process) bool {
		return p.slow == 0 && p.asker(func(a asker) bool { return writes(a.request()) }) != nil
	},
	strike: func(p *Process) {
		p.slow = time.Duration(1+p.cluster.world.Pick(mostSlow, "how slow")) * time.Second
		p.cluster.fact(p, "slow", fmt.Sprintf("each write takes %s", p.slow))
	},
}
