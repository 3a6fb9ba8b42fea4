package law

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// try is what an owner tries again when a dependent of its that has failed is replaced.
type try struct {
	owner types.UID
	what  string
}

// digestTries folds what was tried a short while ago.
func digestTries(tried map[try]time.Duration, now time.Duration) uint64 {
	var sum uint64
	for t, at := range tried { //detcheck:ordered a sum
		if now-at < view.Brief {
			var h sim.Hash
			h.String(string(t.owner))
			h.String(t.what)
			h.Word(uint64(now - at))
			sum += sim.Mix(uint64(h))
		}
	}
	return sum
}
