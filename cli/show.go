package cli

import (
	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
)

func showCommand(a *app) *cobra.Command {
	as, verbose, at := "timeline", false, 0
	cmd := &cobra.Command{
		Use:   "show [flags] FILE",
		Short: "show a run or a log, for example as a timeline, a tree of owners or a page",
		Long: `Runs the scenario file in its schedule, and shows the run. Steps that explore are
skipped. If FILE is an audit log or a file of watch --record, show reads it like judge:

  timeline  the writes, refusals and faults, in order, with the reason of each. "!"
            marks a violation, and "~" an action on a stale cache
  tree      the owners of the objects at the end, or after the step of --at
  dot       the owners as a graph for Graphviz. For a fight, the graph shows the writes
            of the cycle
  json      every record of the history, one JSON object per line
  html      a page with swimlanes and the state at each step. It is one file, and needs
            no network
  svg       the swimlanes as a picture`,
		Example: `  threelaws show FILE
  threelaws show --as tree --at 5 FILE
  threelaws show --as html FILE > run.html
  threelaws show --as tree recorded.log
  threelaws show --as dot FILE | dot -Tsvg > owners.svg`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && !cmd.Flags().Changed("as") {
				as = "json"
			}
			if err := oneOf("as", as, forms...); err != nil {
				return err
			}
			switch {
			case at < 0:
				return usage("--at: step %d is not in the timeline", at)
			case at > 0 && (as == "json" || as == "html" || as == "svg"):
				return usage("--at: %s is the whole history; timeline, tree and dot can end at a step", as)
			}
			s := &shown{as: as, verbose: verbose, at: at}
			if a.logged(args[0]) {
				return s.log(a, args[0])
			}
			var h sim.History
			res, err := a.watch(args[0], scenarios.Options{Inspect: func(r *scenarios.Run) {
				h, s.violations = r.World().History, r.Violations()
			}})
			if err != nil {
				return err
			}
			if as == "html" || as == "svg" {
				src := page.Whole("the run", &h, s.violations)
				src.Replay = a.command("replay", res.File)
				return picture(a, as, res.File, src)
			}
			s.h = &h
			return show(a, s)
		},
	}
	cmd.Flags().StringVar(&as, "as", as, "timeline, tree, dot, json, html or svg")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "timeline: status writes too")
	cmd.Flags().IntVar(&at, "at", 0, "timeline, tree and dot: up to this step of the timeline")
	complete(cmd, "as", completeWords(forms...))
	cmd.ValidArgsFunction = completeFiles(&a.shelf, 1)
	return cmd
}

var forms = []string{"timeline", "tree", "dot", "json", "html", "svg"}

type drawn struct {
	Tree string `json:"tree,omitempty"`
	DOT  string `json:"dot,omitempty"`
	HTML string `json:"html,omitempty"`
	SVG  string `json:"svg,omitempty"`
}

type shown struct {
	h          *sim.History
	violations []render.Mark
	as         string
	verbose    bool
	at         int // the number of a line in the timeline; 0 for the end
}

// show prints a run in the format of --as. With --json, a timeline is an array, and a tree or a graph is an object.
func show(a *app, s *shown) error {
	lines := render.Timeline(s.h, render.Options{Verbose: s.verbose, Violations: s.violations})
	if s.at > len(lines) {
		return usage("--at: step %d is not in the timeline, which has %s", s.at, plural(len(lines), "step"))
	}
	end := s.h.Len()
	if s.at > 0 {
		lines = lines[:s.at]
		records := lines[s.at-1].Records
		end = records[len(records)-1] + 1
	}
	render.Explain(s.h, lines)
	var text string
	switch s.as {
	case "json":
		return records(&a.console, s.h)
	case "timeline":
		if a.json {
			return a.encode(lines)
		}
		text = s.timeline(lines, a.width)
	case "tree":
		text = render.Tree(render.Objects(s.h, end))
		if a.json {
			return a.encode(drawn{Tree: text})
		}
	case "dot":
		text = s.dot(lines, end)
		if a.json {
			return a.encode(drawn{DOT: text})
		}
	}
	if text == "" {
		text = "(none)\n"
	}
	a.print(text)
	return nil
}

func (s *shown) timeline(lines []render.Line, width int) string {
	if len(lines) == 0 {
		return ""
	}
	text := render.Story(lines, width)
	for _, b := range s.violations {
		if fight := render.Fight(lines, b); fight != "" {
			return text + fight + "\n"
		}
	}
	return text
}

// dot returns a graph of a fight's cycle. Without a fight, it returns a graph of the objects before record number end.
func (s *shown) dot(lines []render.Line, end int) string {
	for _, b := range s.violations {
		if _, _, ok := render.Numbers(lines, b.Cycle); ok {
			return render.DOT(render.Around(s.h, b.Cycle), render.Acts(s.h, lines, b.Cycle))
		}
	}
	return render.DOT(render.Objects(s.h, end), nil)
}

type recordJSON struct {
	Index       int        `json:"index"`
	Step        int        `json:"step"`
	At          string     `json:"at"` // the virtual time since the world began
	Op          string     `json:"op"`
	Cause       int        `json:"cause"` // the index of the record that caused this record; -1 for none
	Process     string     `json:"process,omitempty"`
	Era         string     `json:"era,omitempty"`
	Incarnation int        `json:"incarnation,omitempty"`
	Worker      int        `json:"worker,omitempty"`
	For         *refJSON   `json:"for,omitempty"`
	Verb        string     `json:"verb,omitempty"`
	Subresource string     `json:"subresource,omitempty"`
	Object      *refJSON   `json:"object,omitempty"`
	Version     uint64     `json:"version,omitempty"`
	Guards      *guardJSON `json:"guards,omitempty"`
	Code        int        `json:"code,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Message     string     `json:"message,omitempty"`
	Initial     bool       `json:"initial,omitempty"`
	Tombstone   bool       `json:"tombstone,omitempty"`
	Stale       bool       `json:"stale,omitempty"`
	Lost        bool       `json:"lost,omitempty"`
	Enqueued    []string   `json:"enqueued,omitempty"`
	Observed    []string   `json:"observed,omitempty"`
	Before      any        `json:"before,omitempty"`
	After       any        `json:"after,omitempty"`
	Saw         any        `json:"saw,omitempty"`    // the version of the written object that the actor had read
	SawFor      any        `json:"sawFor,omitempty"` // the version of the reconciled object that the actor had read
}

type refJSON struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

type guardJSON struct {
	UID             bool `json:"uid"`
	ResourceVersion bool `json:"resourceVersion"`
}

func records(c *console, h *sim.History) error {
	for i := range h.Records {
		if err := c.line(recordOf(&h.Records[i])); err != nil {
			return err
		}
	}
	return nil
}

func recordOf(r *sim.Record) *recordJSON {
	j := &recordJSON{Index: r.Index, Step: r.Step, At: r.At.String(), Op: render.OpName(r.Op), Cause: r.Cause,
		Process: r.Process, Era: r.Era, Incarnation: r.Incarnation, Worker: r.Worker,
		For: refOf(r.For), Verb: r.Verb, Subresource: r.Subresource, Object: refOf(r.Object), Version: r.Version,
		Code: r.Code, Reason: r.Reason, Message: r.Message, Initial: r.Initial, Tombstone: r.Tombstone,
		Stale: r.Stale(), Lost: r.Lost, Enqueued: r.Enqueued, Observed: r.Observed,
		Before: r.Before, After: r.After, Saw: r.Saw, SawFor: r.SawFor}
	if r.Guards != (sim.Guards{}) {
		j.Guards = &guardJSON{r.Guards.UID, r.Guards.ResourceVersion}
	}
	return j
}

func refOf(r sim.Ref) *refJSON {
	if r == (sim.Ref{}) {
		return nil
	}
	return &refJSON{r.Kind, r.Namespace, r.Name, r.UID}
}
