package cli

import (
	"fmt"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/internal/conform"
)

// conformanceReport is what conformance prints with --json.
type conformanceReport struct {
	Controllers []sheetJSON `json:"controllers"`
	Worlds      int         `json:"worlds"`
	Schedules   int         `json:"schedules"`
	ExitCode    int         `json:"exitCode"`
}

// sheetJSON is one controller in one generation.
type sheetJSON struct {
	Controller string    `json:"controller"`
	Generation string    `json:"generation,omitempty"`
	Newest     bool      `json:"newest"`
	Clauses    []rowJSON `json:"clauses"`
}

// rowJSON is how it stands to one clause.
type rowJSON struct {
	Clause    string      `json:"clause"`
	Law       string      `json:"law,omitempty"`
	State     string      `json:"state"`
	Why       string      `json:"why,omitempty"`
	Asked     int         `json:"asked"`
	Worlds    int         `json:"worlds"`
	Schedules int         `json:"schedules"`
	Broken    int         `json:"broken"`
	Breach    *breachJSON `json:"breach,omitempty"`
}

// breachJSON is the shortest way that was found to break a clause.
type breachJSON struct {
	World string `json:"world"`
	Text  string `json:"text"`
	Steps int    `json:"steps"`
}

func conformanceOf(r *conform.Report, code int) conformanceReport {
	j := conformanceReport{Controllers: []sheetJSON{}, Worlds: r.Worlds, Schedules: r.Schedules, ExitCode: code}
	for _, s := range r.Sheets {
		one := sheetJSON{Controller: s.Name, Generation: s.Generation, Newest: s.Newest, Clauses: []rowJSON{}}
		for _, row := range s.Rows {
			k := rowJSON{Clause: row.ID, Law: row.Law, State: string(row.State), Why: row.Why, Asked: row.Asked,
				Worlds: row.Worlds, Schedules: row.Schedules, Broken: row.Broken}
			if b := row.Breach; b != nil {
				k.Breach = &breachJSON{b.World, b.Text, b.Steps}
			}
			one.Clauses = append(one.Clauses, k)
		}
		j.Controllers = append(j.Controllers, one)
	}
	return j
}

// caseOf is what continuous integration is told of a row: that it passed only where the clause
// held.
func caseOf(s *conform.Sheet, row *conform.Row) ci.Case {
	c := ci.Case{Name: s.String() + "/" + row.ID}
	switch {
	case row.State == conform.Breaking, row.State == conform.Unasked && row.Why == "":
		p := ci.Problem{Title: row.ID, Text: fmt.Sprintf("%s: %s", row.State, row.Sentence)}
		if row.Breach != nil {
			p.Text += "\n" + row.Breach.World + ": " + row.Breach.Text
			c.Page = row.Breach.Page.Text()
		}
		c.Problems = append(c.Problems, p)
	case row.State != conform.Held:
		c.Skipped = row.Note()
	}
	return c
}
