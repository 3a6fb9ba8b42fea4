package check

import (
	"fmt"

	"github.com/threelaws/threelaws/internal/render"
)

// Idle is a controller that did nothing for its owner in a quiet world.
type Idle struct {
	Text    string   // what it did instead
	Printed []string // the last lines that its process printed; none for a controller that is no program
}

// Error says what it did instead, and the last error that it logged.
func (i *Idle) Error() string {
	text := "it did nothing for its owner: " + i.Text
	if errors, _ := render.Digest(i.Printed); len(errors) > 0 {
		text += "; the last error that it logged: " + errors[len(errors)-1]
	}
	return text
}

// mostPrinted is how many lines are kept of what an idle program printed.
const mostPrinted = 200

// didNothing words a run in which the controller wrote nothing for its owner.
func (r *quiet) didNothing() error {
	i := &Idle{Text: fmt.Sprintf("in a world with %s %s has written %s (%s)", r.s.owner.at(), r.process, r.s.nothing(),
		r.idle())}
	for _, p := range r.Cluster.Processes() {
		if p.Name == r.process {
			i.Printed = p.Printed(mostPrinted)
		}
	}
	return i
}
