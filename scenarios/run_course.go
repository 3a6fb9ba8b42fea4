package scenarios

import (
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
)

// course says who decides what happens in a run: nobody in the default schedule,
// else a source of choices, which may be a schedule that was recorded.
type course struct {
	choices sim.Choices   // of the settles that are explored; nil in the default run
	races   bool          // the user's actions race with the controllers
	keys    *explore.Keys // the schedule being replayed, nil for none
	from    int           // first record of the first settle that was explored

	faults   map[string]int // fault budget
	budgeted bool           // it is in the world

	steps int // that a settle which is explored may take; 0 for no other bound than any has
	idle  int // of them without a commit; 0 for maxIdleDrawn

	ended     bool   // the source of choices ended the run
	senseless *Error // or this step did, which made no sense when the run came to it
}

// maxIdleDrawn is how many steps without a commit an explored run may take, of
// which there are many.
const maxIdleDrawn = 20_000

// follow makes every settle that is not quiet go as the schedule says.
func (c *course) follow(s explore.Schedule) {
	c.keys = explore.Replay(s)
	c.choices, c.races = c.keys, true
}
