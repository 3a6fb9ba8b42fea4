package scenarios

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

var verbInstall = &Verb{
	Name: "install", Args: "PATH...", Min: 1, Max: -1,
	Summary: "create objects before the first step",
	Detail: `The objects exist before the first step, so this step comes first. PATH is a section, or
a directory of sections, with any objects. If the file has no such section, PATH is a
file or a directory beside the file, such as config/crd/bases. Then install reads only
the CRDs, in files .yaml, .yml and .json.`,
	Example:  "install config/crd/bases\ncontrollers widget\napply world.yaml",
	installs: true,
	check:    checkInstall,
	run:      func(*Run, *Step) error { return nil }, // newRun has already created the objects
}

func checkInstall(c *checker, s *Step) error {
	for _, before := range c.file.Steps {
		if before == s {
			break
		}
		if v := before.verb; !v.installs && !v.judges && v != verbSchedule {
			return s.wrong("%s comes before it, on line %d: installed objects exist before the first step", v.Name,
				before.Line)
		}
	}
	var all []*section
	for _, name := range s.Words() {
		secs, err := c.file.definitions(s, name)
		if err != nil {
			return err
		}
		for _, sec := range secs {
			sec.read, sec.installed, sec.only = true, true, sec.origin != ""
			all = append(all, sec)
		}
	}
	var err error
	if c.file.base, err = c.file.install(c.file.base, c.registry, all); err != nil {
		return err
	}
	c.server = c.file.base.fork()
	c.file.server = c.server
	return nil
}

var verbDefine = &Verb{
	Name: "define", Args: "PATH...", Min: 1, Max: -1,
	Summary: "define the kinds of CustomResourceDefinitions",
	Detail: `PATH is a section, or a directory of sections. If the file has no such section, PATH is
a file or a directory beside the file, such as config/crd/bases. In a directory, define
reads the CRDs in files .yaml, .yml and .json. Define a kind before a step names it, and
before its controller starts. apply can create CRDs too. A failure file contains the CRDs
that it needs.`,
	Example: "define config/crd/bases\ncontrollers widget\napply world.yaml",
	acts:    true,
	sends:   true,
	check: func(c *checker, s *Step) error {
		for _, name := range s.Words() {
			secs, err := c.file.definitions(s, name)
			if err != nil {
				return err
			}
			for _, sec := range secs {
				sec.read, sec.only = true, true
				if err := c.apply(s, sec); err != nil {
					return err
				}
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.eachSection(s, r.file.under, r.apply) },
}

// definitions returns the sections at a path of the archive. If there are none, it reads the files at that path,
// relative to the directory of the scenario file. Each file with CRDs becomes a section that is not in the archive.
func (f *File) definitions(s *Step, name string) ([]*section, error) {
	if all := f.under(name); len(all) > 0 {
		return all, nil
	}
	at := filepath.FromSlash(name)
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(f.Name), at)
	}
	files, err := definitionFiles(at)
	if err != nil {
		return nil, s.wrong("%s: no section has this name, and there is no such file or directory%s",
			name, suggest(name, f.sectionNames()))
	}
	for _, file := range files {
		data, err := readFile(file)
		if err != nil {
			return nil, err
		}
		sec := &section{name: path.Clean(name), body: string(data), origin: file}
		if file != at {
			sec.name = path.Join(name, filepath.Base(file))
		}
		if strings.Contains(sec.body, manifest.Definition) {
			f.sections = append(f.sections, sec)
		}
	}
	all := f.under(path.Clean(name))
	if len(all) == 0 {
		return nil, s.wrong("no %s in %s", manifest.Definition, name)
	}
	return all, nil
}

// definitionFiles returns the path of a file, or the paths of the manifests in a directory, sorted by name.
func definitionFiles(at string) ([]string, error) {
	st, err := os.Stat(at)
	if err != nil || !st.IsDir() {
		return []string{at}, err
	}
	entries, err := os.ReadDir(at)
	var files []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json":
			if !e.IsDir() {
				files = append(files, filepath.Join(at, e.Name()))
			}
		}
	}
	return files, err
}
