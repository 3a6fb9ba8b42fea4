package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
)

const extension = ".txtar"

// defaultDir is where a checkout of this module has its scenarios.
const defaultDir = "scenarios"

// stdin is the name of the scenario file that is read from standard input.
const stdin = "-"

// read parses a scenario file, or what standard input is.
func (a *app) read(path string) (*scenarios.File, error) {
	if path != stdin {
		return scenarios.Load(path)
	}
	text, err := io.ReadAll(io.LimitReader(a.in, scenarios.MaxSize+1))
	if err != nil {
		return nil, usage("standard input cannot be read: %v", err)
	}
	return scenarios.Parse("stdin", text)
}

// find lists the scenario files that the arguments name: files as they are,
// directories with everything below them, sorted, each file once.
func find(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if arg == stdin {
			files = append(files, arg)
			continue
		}
		arg = filepath.Clean(arg)
		st, err := os.Stat(arg)
		if err != nil {
			return nil, missing(arg, err)
		}
		if !st.IsDir() {
			files = append(files, arg)
			continue
		}
		below, err := walk(arg)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			return nil, &scenarios.Error{File: arg, Text: "no scenario files (*" + extension + ") in this directory", Code: scenarios.ExitUsage}
		}
		files = append(files, below...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	}), nil
}

// walk lists the scenario files below a directory in lexical order. Hidden ones
// are left out.
func walk(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(d.Name(), ".") && path != dir; {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return filepath.SkipDir
		case !hidden && !d.IsDir() && strings.HasSuffix(path, extension):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// missing words why a file cannot be found, with the nearest one there is.
func missing(path string, err error) error {
	var pe *fs.PathError
	text := err.Error()
	if errors.As(err, &pe) {
		text = pe.Err.Error()
	}
	var names []string
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if n := nearest.Word(filepath.Base(path), names); n != "" {
		text += "; did you mean " + filepath.Join(filepath.Dir(path), n) + "?"
	}
	return &scenarios.Error{File: path, Text: "cannot be read: " + text, Code: scenarios.ExitUsage}
}

// load reads, parses and checks one scenario file.
func (a *app) load(path string) (*scenarios.File, error) {
	path = filepath.Clean(path)
	st, err := os.Stat(path)
	switch {
	case path == stdin:
	case err != nil:
		return nil, missing(path, err)
	case st.IsDir():
		return nil, &scenarios.Error{File: path, Text: "this is a directory, not a scenario file", Code: scenarios.ExitUsage}
	}
	f, err := a.read(path)
	if err != nil {
		return nil, err
	}
	return f, f.Check(a.registry)
}
