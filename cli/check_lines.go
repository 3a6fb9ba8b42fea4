package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
)

// checkProtocol is the version of what check prints with -o json-lines. The module agent reads it.
const checkProtocol = 1

// checkLine is a line that check prints with -o json-lines. The first has the protocol alone.
type checkLine struct {
	Protocol int    `json:"protocol,omitempty"`
	Note     string `json:"note,omitempty"`    // what was taken from where
	Name     string `json:"name,omitempty"`    // of a case or a law
	Failed   string `json:"failed,omitempty"`  // the page of each violation, or what else is wrong
	Skipped  string `json:"skipped,omitempty"` // why nothing can be said
	Told     string `json:"told,omitempty"`    // what was tried
}

// line prints a line, with -o json-lines.
func (c *checking) line(l checkLine) {
	if c.lines {
		text, _ := json.Marshal(l) // texts and a number always encode
		c.printf("%s\n", text)
	}
}

// caseLine tells a case.
func (c *checking) caseLine(s *sampleTried, j *caseJSON) checkLine {
	l := checkLine{Name: c.among(s, j.Name), Skipped: j.Skipped, Told: strings.TrimSpace(j.line())}
	switch {
	case len(j.Failures) > 0:
		l.Failed = j.pages
	case len(j.Errors) > 0:
		l.Failed = strings.Join(j.Errors, "\n")
	case j.ExitCode == scenarios.ExitNotSettled:
		l.Failed = l.Told
	case j.LeftOut:
		l.Skipped, l.Told = "left out: "+j.noTime(), ""
	case len(j.Uncovered) > 0:
		l.Skipped = "not covered: " + strings.Join(j.Uncovered, "; ")
	}
	return l
}

// lawLine tells a law.
func (c *checking) lawLine(s *sampleTried, v *check.Verdict, told *lawTold) checkLine {
	l := checkLine{Name: c.among(s, fmt.Sprintf("%s-%s", v.ID, v.Name)), Told: told.text(v)}
	switch v.State {
	case check.Held:
	case check.Broken:
		l.Failed = "violated " + l.Told
	default:
		l.Skipped, l.Told = strings.TrimSuffix(told.State+": "+told.Why, ": "), ""
	}
	return l
}

// among names a case or a law, with the sample's kind where there are several samples.
func (c *checking) among(s *sampleTried, name string) string {
	if c.samples > 1 {
		return s.label(name)
	}
	return name
}
