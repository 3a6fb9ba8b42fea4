package cli

import (
	"fmt"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
)

// progressLine is a line on the terminal that is written over. Without a
// terminal it is nothing.
type progressLine struct {
	app  *app
	used bool
}

// progress follows an exploration.
func (a *app) progress(x *exploring, began time.Time) *progressLine {
	p := &progressLine{app: a}
	if !a.live {
		return p
	}
	x.Progress = func(e explore.Progress) {
		p.show("%d of %d schedules, %.0f/s, %d distinct, %s, %s left", e.Runs, e.Total, e.PerSecond, e.Distinct,
			plural(e.Failed, "violation"), round(e.Left))
	}
	var told time.Time
	x.Covered = func(c *explore.Coverage) {
		now := time.Now()
		if now.Sub(told) < 200*time.Millisecond {
			return
		}
		told = now
		seconds := now.Sub(began).Seconds()
		p.show("%d states, %d schedules, %.0f runs/s, %s, %s so far", c.States, c.Schedules, float64(c.Runs)/seconds,
			plural(len(c.Failures), "violation"), round(now.Sub(began)))
	}
	return p
}

func (p *progressLine) show(format string, args ...any) {
	p.used = true
	fmt.Fprintf(p.app.err, "\r\x1b[K%.99s", fmt.Sprintf(format, args...))
}

// end clears the line.
func (p *progressLine) end() {
	if p.used {
		fmt.Fprint(p.app.err, "\r\x1b[K")
	}
}
