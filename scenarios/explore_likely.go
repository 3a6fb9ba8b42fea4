package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
)

// likelihood continues a minimized failure at random, from its start and from each line of its page. Each line gets an
// equal share of the time that is left of p.likely, and at most 200 runs. An interrupt ends it.
func (p *Script) likelihood(run *Run, page *render.Page, small *explore.Shrunk) (all []Likely) {
	all = []Likely{{}}
	ends := []int{0}
	for _, l := range page.Lines {
		rec := run.t.World.History.At(l.Records[len(l.Records)-1])
		if rec == nil {
			continue
		}
		end := slices.IndexFunc(small.Schedule, func(e explore.Entry) bool { return e.Step > rec.Step })
		if end < 0 {
			end = len(small.Schedule)
		}
		all, ends = append(all, Likely{Line: l.N}), append(ends, end)
	}
	until := time.Now().Add(p.likely)
	for k := range all {
		share := time.Now().Add(time.Until(until) / time.Duration(len(all)-k))
		for i := 0; i < continuations && time.Now().Before(share) && p.interrupted() == nil; i++ {
			out := p.Run(explore.Fork(small.Schedule[:ends[k]], explore.SeedAt(1, i)))
			all[k].How.Of++
			if len(out.Findings) > 0 && out.Findings[0].Same(small.Violation) {
				all[k].How.Failed++
			}
		}
	}
	return all
}

// decided lists how likely the failure is at the start, and after each line that changes this by 10 or more percent.
func decided(all []Likely) string {
	text, last, fewest := "", -1.0, continuations
	for _, l := range all {
		if l.How.Of == 0 {
			continue
		}
		fewest = min(fewest, l.How.Of)
		now := float64(l.How.Failed) / float64(l.How.Of)
		if last >= 0 && now < last+0.1 && now > last-0.1 {
			continue
		}
		last = now
		at := "at the start"
		if l.Line > 0 {
			at = fmt.Sprintf("after step %d", l.Line)
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %.0f %%", at, 100*now)
	}
	if text == "" {
		return ""
	}
	number := fmt.Sprint(fewest)
	if fewest < continuations {
		number += " or more"
	}
	return fmt.Sprintf("how likely the failure still was, by %s random continuations: %s", number, text)
}
