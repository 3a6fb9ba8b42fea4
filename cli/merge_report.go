package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

type merged struct {
	World      string            `json:"world"`
	Hash       string            `json:"sha256"`
	Settings   string            `json:"settings"`
	Complete   bool              `json:"complete"`
	Done       int               `json:"done"`  // completed schedules, or completed shards of an exhaustive search
	Total      int               `json:"total"` // the number of schedules or shards in the whole campaign
	Missing    [][2]int          `json:"missing,omitempty"`
	Stopped    string            `json:"stopped,omitempty"`
	Schedules  int               `json:"schedules"`
	Distinct   int               `json:"distinct,omitempty"`
	States     int               `json:"states,omitempty"`
	Estimated  bool              `json:"estimated,omitempty"` // Distinct or States is an estimate
	Failed     int               `json:"failed"`
	Unsettled  int               `json:"unsettled"`
	Outcomes   []explore.Row     `json:"outcomes"`
	NotVaried  []string          `json:"notVaried,omitempty"`
	Violations []mergedViolation `json:"violations,omitempty"`
	ExitCode   int               `json:"exitCode"`

	exhaustive bool
}

// mergedViolation is a violation of a law. If it was not minimized, it has no Page.
type mergedViolation struct {
	Law     string          `json:"law"`
	Text    string          `json:"text"`
	Index   int             `json:"index"`
	Often   *campaign.Often `json:"often,omitempty"`
	Small   string          `json:"small,omitempty"`
	Page    string          `json:"page,omitempty"`
	Written string          `json:"written,omitempty"`
	Known   string          `json:"accepted,omitempty"` // the reason if the violation is accepted

	file  string
	again string // the command that replays the violation, without the path; "" means "threelaws replay"
	rest  bool   // the violated law is always-settle
}

func newMerged(r *campaign.Result) *merged {
	m := &merged{World: r.World, Hash: r.Hash, Settings: r.Settings, Complete: r.Complete(), Done: r.Done(), Total: r.Total,
		Stopped: r.Stopped, Schedules: r.Counts["schedules"], Failed: r.Counts["failed"], Unsettled: r.Counts["unsettled"],
		NotVaried: r.Fixed, Outcomes: explore.TableOf(r.Outcomes).Rows(), exhaustive: r.Shards > 0}
	n, exact := r.Seen.Len()
	m.Estimated = !exact
	if m.Distinct = n; m.exhaustive {
		m.Distinct, m.States = 0, n
		m.Unsettled = r.Counts["livelocks"]
	} else {
		m.Missing = r.Missing()
	}
	for _, f := range r.Stories() {
		v := mergedViolation{Law: f.Law, Text: f.Text, Index: f.Index, Known: f.Accepted, rest: f.ID == law.AlwaysSettles}
		if !m.exhaustive {
			often := r.Often(f.Law)
			v.Often = &often
		}
		if f.Story != nil {
			v.Text, v.Small, v.Page, v.file, v.again = f.Story.Text, f.Story.Small, f.Story.Page, f.Story.File, f.Story.Again
		}
		m.Violations = append(m.Violations, v)
	}
	counted := slices.DeleteFunc(slices.Clone(m.Violations), func(v mergedViolation) bool {
		if v.Known != "" && v.rest {
			m.Unsettled = 0
		}
		return v.Known != ""
	})
	if m.exhaustive || len(counted) == 0 && len(m.Violations) > 0 {
		m.Failed = len(counted)
	}
	if m.Complete && m.exhaustive && m.Schedules == 0 && len(m.Violations) == 0 {
		m.Complete, m.Stopped = false, "no schedule came to its end"
	}
	switch {
	case slices.ContainsFunc(counted, func(v mergedViolation) bool { return !v.rest }):
		m.ExitCode = scenarios.ExitFail
	case len(counted) > 0 || m.Unsettled > 0:
		m.ExitCode = scenarios.ExitNotSettled
	case !m.Complete:
		m.ExitCode = exitUncovered
	}
	return m
}

func (m *merged) head() string {
	about := ""
	if m.Estimated {
		about = "about "
	}
	var parts []string
	if m.exhaustive {
		how := "covered everything: "
		if !m.Complete {
			how = fmt.Sprintf("not everything was covered (%s): ", cmp.Or(m.Stopped, fmt.Sprintf("%d of %d shards", m.Done, m.Total)))
		}
		parts = []string{how + about + plural(m.States, "state"), plural(m.Schedules, "schedule")}
	} else {
		what := plural(m.Schedules, "schedule")
		if !m.Complete {
			what = fmt.Sprintf("%d of %d schedules", m.Done, m.Total)
		}
		parts = []string{what, fmt.Sprintf("%s%d distinct", about, m.Distinct)}
	}
	parts = append(parts, plural(m.Failed, "violation"), plural(len(m.Outcomes), "outcome"))
	if m.Unsettled > 0 {
		parts = append(parts, fmt.Sprintf("%d did not settle", m.Unsettled))
	}
	return fmt.Sprintf("%s: %s\n", m.World, strings.Join(parts, ", "))
}

// missing returns a line about the schedules that no shard has run. It returns "" if none is missing, and for an
// exhaustive search.
func (m *merged) missing() string {
	if len(m.Missing) == 0 {
		return ""
	}
	var parts []string
	for i, r := range m.Missing {
		if i == 8 {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, fmt.Sprintf("%d to %d", r[0], r[1]-1))
	}
	return "not drawn: schedules " + strings.Join(parts, ", ") + "\n"
}

func (m *merged) text() string {
	var b strings.Builder
	b.WriteString(m.head() + m.missing())
	t := render.Table{Indent: "  "}
	for _, o := range m.Outcomes {
		t.Add(fmt.Sprintf("%6d", o.Count), o.Label)
	}
	b.WriteString(t.String())
	if len(m.NotVaried) > 0 {
		b.WriteString(render.Fold("not varied: " + strings.Join(m.NotVaried, "; ")))
	}
	for i := range m.Violations {
		v := &m.Violations[i]
		b.WriteString("\n" + v.head())
		if v.Page != "" {
			b.WriteString(strings.TrimRight(v.Page, "\n") + "\n")
		}
		b.WriteString(v.replay())
	}
	return b.String()
}

func (v *mergedViolation) head() string {
	if v.Known != "" {
		text := "accepted: " + v.Law
		if v.Often != nil {
			text += fmt.Sprintf(", in %s", v.Often)
		}
		return text + ": " + v.Known + "\n"
	}
	text := fmt.Sprintf("%s, first in schedule %d: %s\n", v.Law, v.Index, v.Text)
	if v.Often != nil {
		text += fmt.Sprintf("    in %s\n", v.Often)
	}
	return text
}

func (v *mergedViolation) command() string {
	return cmp.Or(v.again, "threelaws replay ") + argument(v.Written)
}

func (v *mergedViolation) replay() string {
	switch {
	case v.Written != "":
		return "    replay: " + v.command() + "\n"
	case v.Page == "" && v.Known == "":
		return "    not minimized: the shard was interrupted; start it again\n"
	}
	return ""
}

func (m *merged) ci() ci.File {
	c := ci.File{Name: m.World, Page: m.text()}
	add := func(title, text string) { c.Problems = append(c.Problems, ci.Problem{Title: title, Text: text}) }
	for i := range m.Violations {
		if v := &m.Violations[i]; v.Known == "" {
			add(v.Law, m.World+": "+v.head()+v.replay())
		}
	}
	switch {
	case len(c.Problems) > 0:
	case m.ExitCode == scenarios.ExitNotSettled:
		add("does not settle", m.head())
	case m.ExitCode != scenarios.ExitPass:
		add("not covered", m.head()+m.missing())
	}
	return c
}
