package scenarios

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// definitions lists the sections with CRDs at a path. They come from the archive, or else from files relative to the
// scenario's own. Such files become sections that are not part of its text.
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

// definitionFiles returns a file, or the manifests of a directory sorted by name.
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
