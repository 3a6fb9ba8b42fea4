package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

type lawJSON struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Sentence  string   `json:"sentence"`
	Source    string   `json:"source"`
	Profile   string   `json:"profile"`             // the smallest profile that contains the law
	Needs     []string `json:"needs,omitempty"`     // the kinds of records that the law needs (law.Evidence)
	Unchecked string   `json:"unchecked,omitempty"` // the part of the sentence that the law does not check
	Where     string   `json:"where,omitempty"`     // for a law that no history can violate: the test that checks it
	Mutants   []string `json:"mutants,omitempty"`   // the mutants that must violate the law
	Scenarios []string `json:"scenarios,omitempty"` // the scenario files whose comments name the law
}

var categories = map[clause.Category]string{
	clause.Safety: "safety", clause.Liveness: "liveness", clause.Routing: "routing", clause.Validation: "validation",
	clause.Data: "data",
}

// categoryOf returns the category of a law's clause. An invariant has no clause. If it is evaluated in settled worlds,
// it counts as liveness, otherwise as safety.
func categoryOf(l *law.Law) string {
	c := clause.ByID(l.ID)
	switch {
	case c != nil:
		return categories[c.Category]
	case l.Needs&law.SettledWorld != 0:
		return categories[clause.Liveness]
	}
	return categories[clause.Safety]
}

func lawsCommand(a *app) *cobra.Command {
	dir, profile := defaultDir, ""
	cmd := &cobra.Command{
		Use:   "laws [flags] [NAME...]",
		Short: "list the laws, with their sources, mutants and scenarios",
		Long: `Lists all laws, or only the laws with the given names or clauses. For each law it prints
the mutants that the law must report, and the scenarios whose comments name the law. It
also prints the profile of the law, the records that it needs, and the part of its
sentence that no check covers. Each profile includes the laws of the profile before it.`,
		Example: "  threelaws laws\n  threelaws laws dont-interfere ADOPT-4",
		RunE: func(cmd *cobra.Command, args []string) error {
			laws, err := a.lawsNamed(args)
			if err != nil {
				return err
			}
			if laws, err = owed(laws, profile); err != nil {
				return err
			}
			p, err := a.pins(dir)
			if err != nil {
				return err
			}
			return listLaws(a, laws, p)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "directory of the scenarios; if it does not exist, the program's own scenarios")
	cmd.Flags().StringVar(&profile, "profile", "",
		"only the laws of this profile: "+strings.Join(law.Profiles(), ", "))
	complete(cmd, "dir", completeDirs)
	complete(cmd, "profile", completeWords(law.Profiles()...))
	cmd.ValidArgsFunction = completeWords(a.lawWords()...)
	return cmd
}

// owed returns the laws that a profile contains. For "" it returns all laws.
func owed(laws []*law.Law, profile string) ([]*law.Law, error) {
	if profile == "" {
		return laws, nil
	}
	p := slices.Index(law.Profiles(), profile)
	if p < 0 {
		return nil, usage("laws: unknown profile %s%s", profile, suggest(profile, law.Profiles()))
	}
	return slices.DeleteFunc(slices.Clone(laws), func(l *law.Law) bool { return l.Profile > law.Profile(p) }), nil
}

func listLaws(a *app, laws []*law.Law, p pins) error {
	list := []lawJSON{}
	for _, l := range laws {
		id := l.ID
		if c := clause.ByID(id); c != nil {
			id = c.ID // an invariant gets the ID of the clause that it belongs to
		}
		j := lawJSON{ID: id, Name: l.Name, Kind: categoryOf(l), Sentence: l.Sentence, Source: l.Source,
			Profile: l.Profile.String(), Needs: l.Needs.Names(), Unchecked: l.Unchecked, Where: l.Where,
			Scenarios: p[id]}
		for _, m := range a.registry.Mutants {
			if m.Law == l.ID {
				j.Mutants = append(j.Mutants, m.Name)
			}
		}
		list = append(list, j)
	}
	if a.json {
		return a.encode(list)
	}
	for i := range list {
		a.print(list[i].text(a.prose()))
	}
	return nil
}

func (l *lawJSON) text(width int) string {
	t := render.Table{Indent: "  ", Width: width}
	for _, row := range [][2]string{
		{"says", l.Sentence}, {"source", l.Source}, {"needs", strings.Join(l.Needs, ", ")},
		{"not checked", l.Unchecked}, {"pinned in", l.Where}, {"kills", strings.Join(l.Mutants, " ")},
		{"scenarios", strings.Join(l.Scenarios, " ")},
	} {
		if row[1] != "" {
			t.Add(row[0], row[1])
		}
	}
	head := l.ID + "  " + l.Name
	if l.ID == l.Name {
		head = l.ID
	}
	return head + "  (" + l.Kind + ", " + l.Profile + ")\n" + t.String()
}

// pins maps each clause to the scenario files whose comments contain it.
type pins map[string][]string

// pins finds the clauses that occur in scenario files below a directory. It skips unreadable files, which run reports.
func (s *shelf) pins(dir string) (pins, error) {
	p := pins{}
	files, err := s.all(dir)
	if err != nil {
		return nil, usage("%v", err)
	}
	for _, name := range files {
		if f, err := s.read(name); err == nil {
			p.add(f)
		}
	}
	return p, nil
}

func (p pins) add(f *scenarios.File) {
	for line := range strings.Lines(string(f.Format())) {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if line[0] != '#' {
			continue
		}
		for _, id := range clause.In(line) {
			if !slices.Contains(p[id], f.Name) {
				p[id] = append(p[id], f.Name)
			}
		}
	}
}
