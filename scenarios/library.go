package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed testdata
var library embed.FS

// Library returns the scenarios of this module: *.txtar files in one directory per family. Programs that do not call it
// do not embed them.
func Library() fs.FS {
	sub, err := fs.Sub(library, "testdata")
	if err != nil {
		panic(err) // the name is not a valid path
	}
	return sub
}
