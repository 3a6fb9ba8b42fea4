package conform

import (
	"io/fs"
	"path"

	"github.com/threelaws/threelaws/scenarios"
)

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
