package evidence

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// world is a scenario to explore, with its controllers in one era.
type world struct {
	file   *scenarios.File
	text   []byte          // the file's text, to parse it again
	faults map[string]int  // how often each fault may occur in a run; nil for no faults
	cast   []ControllerEra // the controllers of the world
}

// ControllerEra is a controller in one era.
type ControllerEra struct {
	host.Controller

	Newest bool // the name without an era means this era; true for every variant of the kubelet
}

func (s *ControllerEra) String() string {
	if s.Era == "" {
		return s.Name
	}
	return s.Name + "@" + s.Era
}

func ControllerEras(g *scenarios.Registry) []ControllerEra {
	var all []ControllerEra
	for i, c := range g.Controllers {
		newest := c.Name == kubelet ||
			!slices.ContainsFunc(g.Controllers[i+1:], func(d host.Controller) bool { return d.Name == c.Name })
		if c.Era == "" && !newest {
			continue // no world can name it: its name without an era means another era
		}
		all = append(all, ControllerEra{c, newest})
	}
	return all
}

// selecting reports whether a controller of the world uses selectors in place of ControllerRef.
func (w *world) selecting() bool {
	return slices.ContainsFunc(w.cast, func(s ControllerEra) bool { return selecting(&Sheet{ControllerEra: s}) })
}

// eras returns the eras of a controller: "" for the last one, then the older ones.
func eras(name string, all []ControllerEra) []string {
	list := []string{""}
	for _, s := range all {
		if s.Name == name && !s.Newest {
			list = append(list, s.Era)
		}
	}
	return list
}

// newest returns the last era of a controller as a list, nil for an unknown controller.
func newest(name string, all []ControllerEra) []ControllerEra {
	i := slices.IndexFunc(all, func(s ControllerEra) bool { return s.Name == name && s.Newest })
	if i < 0 {
		return nil
	}
	return all[i : i+1]
}

// agesIn returns the eras in which a file runs a controller.
func agesIn(f *scenarios.File, name string, g *scenarios.Registry) (seen []string) {
	take := func(c *host.Controller) {
		if c.Name == name && !slices.Contains(seen, c.Era) {
			seen = append(seen, c.Era)
		}
	}
	add := func(spec string) {
		if c, what := g.Controller(spec); what == "" {
			take(&c)
		}
	}
	for _, s := range f.Steps {
		switch s.Verb {
		case "controllers", "managers":
			chosen, _ := g.Choose(s.Words())
			for i := range chosen {
				take(&chosen[i])
			}
		case "duplicate":
			add(s.Word(0))
		case "switch":
			if process, _, _ := strings.Cut(s.Word(0), "#"); process == "all" || process == "manager" {
				add(name + "@" + s.Word(1))
			} else {
				add(process + "@" + s.Word(1))
			}
		}
	}
	return seen
}

// cast returns the names of the controllers that a file starts.
func cast(f *scenarios.File, g *scenarios.Registry) []string {
	var names []string
	for _, s := range f.Steps {
		if s.Verb != "controllers" {
			continue
		}
		chosen, _ := g.Choose(s.Words())
		for i := range chosen {
			if !slices.Contains(names, chosen[i].Name) {
				names = append(names, chosen[i].Name)
			}
		}
	}
	return names
}

// whole reports whether a file never switches eras or downgrades the server, and expects no violation on settling.
func whole(f *scenarios.File) bool {
	return !slices.ContainsFunc(f.Steps, func(s *scenarios.Step) bool {
		return s.Verb == "switch" || s.Verb == "downgrade-server" || s.Expect && s.Verb == "settle"
	})
}

// The function in parses a scenario with its controllers in an era. If era is "" or a controller lacks it, the
// controller runs in its newest era. The kubelet keeps the variant that the scenario names.
func in(name string, text []byte, era string, g *scenarios.Registry, all []ControllerEra) (*world, error) {
	f, err := scenarios.Parse(name, text)
	if err != nil {
		return nil, err
	}
	w := &world{file: f, text: text}
	for _, s := range f.Steps {
		if s.Verb != "controllers" {
			continue
		}
		for i := range s.Args {
			word, _, _ := strings.Cut(s.Args[i].Text, "@")
			c, what := g.Controller(word)
			if what != "" {
				continue
			}
			chosen := ControllerEra{c, true}
			if c.Name == kubelet {
				c, _ = g.Controller(s.Args[i].Text)
				w.cast = append(w.cast, ControllerEra{c, true})
				continue
			}
			for _, o := range all {
				if o.Name == c.Name && o.Era == era && era != "" {
					chosen = o
				}
			}
			if !chosen.Newest {
				word = chosen.String()
			}
			s.Args[i] = scenarios.Arg{Text: word, Value: word}
			w.cast = append(w.cast, chosen)
		}
	}
	return w, nil
}

// Files reads all scenarios of the library.
func Files() ([]*scenarios.File, error) {
	var files []*scenarios.File
	library := scenarios.Library()
	err := fs.WalkDir(library, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(library, name)
		if err != nil {
			return err
		}
		f, err := scenarios.Parse(name, text)
		files = append(files, f)
		return err
	})
	return files, err
}
