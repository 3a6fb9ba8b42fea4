package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed testdata
var library embed.FS

// Library is the scenarios of this module, for a program that has them in it:
// *.txtar files, in a directory for each family. A program that does not call it
// is no larger for it.
func Library() fs.FS {
	sub, err := fs.Sub(library, "testdata")
	if err != nil {
		panic(err) // the name is no path
	}
	return sub
}
