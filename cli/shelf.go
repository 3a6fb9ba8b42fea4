package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
)

const extension = ".txtar"

// defaultDir is the directory of scenarios if the command line contains no file or directory.
const defaultDir = "scenarios"

const stdin = "-"

// shelf finds scenario files on disk, in the program's library (one directory for each family), and on stdin.
type shelf struct {
	embedded  fs.FS // nil if there is no library
	input     io.Reader
	workspace string // the root of the repository with the files; "" if unknown
}

func titleOf(name string) string {
	if name == stdin {
		return "stdin"
	}
	return name
}

func onDisk(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func (s *shelf) read(name string) (*scenarios.File, error) {
	switch {
	case name == stdin:
		text, err := io.ReadAll(io.LimitReader(s.input, scenarios.MaxSize+1))
		if err != nil {
			return nil, usage("standard input cannot be read: %v", err)
		}
		return scenarios.Parse(titleOf(name), text)
	case s.own(name):
		text, err := fs.ReadFile(s.embedded, name)
		if err != nil {
			return nil, notFile(name, err.Error())
		}
		return scenarios.Parse(name, text)
	}
	return scenarios.Load(name)
}

func (s *shelf) own(name string) bool {
	if s.embedded == nil || !fs.ValidPath(name) || onDisk(name) {
		return false
	}
	_, err := fs.Stat(s.embedded, name)
	return err == nil
}

// find lists the files for the arguments, without duplicates. A directory or a family stands for all its files.
func (s *shelf) find(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		named, err := s.named(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, named...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	}), nil
}

func (s *shelf) one(arg string) (string, error) {
	if st, err := os.Stat(arg); err == nil && st.IsDir() {
		return "", notFile(filepath.Clean(arg), "this is a directory, not a scenario file")
	}
	named, err := s.named(arg)
	if err == nil && len(named) != 1 {
		return "", notFile(arg, "this is a family of "+plural(len(named), "scenario")+"; name one, as "+named[0])
	}
	if err != nil {
		return "", err
	}
	return named[0], nil
}

func (s *shelf) named(arg string) ([]string, error) {
	if arg == stdin {
		return []string{arg}, nil
	}
	clean := filepath.Clean(arg)
	st, err := os.Stat(clean)
	if err != nil {
		if own := s.shelved(filepath.ToSlash(clean)); len(own) > 0 {
			return own, nil
		}
		return nil, missing(clean, err, s.words())
	}
	if !st.IsDir() {
		return []string{clean}, nil
	}
	below, err := walk(clean)
	if err == nil && len(below) == 0 {
		err = notFile(clean, "no scenario files (*"+extension+") in this directory")
	}
	return below, err
}

// shelved lists the library's files that have this family, path or base name. For "" it lists all files.
func (s *shelf) shelved(name string) []string {
	if s.embedded == nil {
		return nil
	}
	var found []string
	for _, file := range s.files() {
		bare := strings.TrimSuffix(file, extension)
		word := strings.TrimSuffix(name, extension)
		if name == "" || word == bare || word == path.Base(bare) || strings.HasPrefix(file, name+"/") {
			found = append(found, file)
		}
	}
	return found
}

func (s *shelf) files() []string {
	var files []string
	if s.embedded == nil {
		return nil
	}
	_ = fs.WalkDir(s.embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, extension) {
			files = append(files, name)
		}
		return err
	})
	return files
}

func (s *shelf) words() []string {
	var words []string
	for _, file := range s.files() {
		if family := path.Dir(file); family != "." && !slices.Contains(words, family) {
			words = append(words, family)
		}
		words = append(words, strings.TrimSuffix(file, extension))
	}
	return words
}

// all lists the files below a directory. If the default directory "scenarios" does not exist, it lists the files of the
// library. If another directory does not exist, it lists none.
func (s *shelf) all(dir string) ([]string, error) {
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return walk(filepath.Clean(dir))
	}
	if dir == defaultDir {
		return s.shelved(""), nil
	}
	return nil, nil
}

// walk lists the scenario files below a directory in lexical order, without hidden files.
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

// missing returns an error about a file that cannot be read. If the file does not exist, the error suggests the nearest
// name on disk or in the library.
func missing(name string, err error, library []string) error {
	var pe *fs.PathError
	text := err.Error()
	if errors.As(err, &pe) {
		text = pe.Err.Error()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return notFile(name, "cannot be read: "+text) // the file exists, so no name is suggested
	}
	var names []string
	entries, _ := os.ReadDir(filepath.Dir(name))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if n := nearest.Word(filepath.Base(name), names); n != "" {
		text += "; did you mean " + filepath.Join(filepath.Dir(name), n) + "?"
	} else if n := nearest.Word(name, library); n != "" {
		text += "; did you mean " + n + ", of the scenarios in this program?"
	}
	return notFile(name, "cannot be read: "+text)
}

func notFile(name, text string) error {
	return &scenarios.Error{File: name, Text: text, Code: scenarios.ExitUsage}
}
