// Package overlay creates the files for `go build -overlay` with which hosted programs are built. With these files, the
// standard library is deterministic in a bubble, isolates a hosted process, and contains the agent.
//
// In a bubble of testing/synctest, only the bubble's seed determines math/rand, preemption, and the order of maps, of
// selects, and of simultaneous timers. In a process that a world hosts (see package wire), requests to the API server
// go to the world. Listeners are in memory, and the process opens no network connection.
package overlay

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed all:_std wire/wire.go
var added embed.FS

//go:embed sums.txt
var sums string

// Files lists the files of an overlay on disk.
type Files struct {
	Replace map[string]string // file of GOROOT -> file that replaces it
}

// UnknownError is the error for a toolchain if the patches were not tested on its source files.
type UnknownError struct {
	Version string   // "go1.28.0"
	Files   []string // files with unknown checksums
	Instead string   // why the newest known release cannot build the module; "" if it was not tried
}

func (e *UnknownError) Error() string {
	all := Versions()
	newest, why := all[len(all)-1], ""
	if e.Instead != "" {
		why = fmt.Sprintf("; %s cannot build the module: %s", newest, strings.ReplaceAll(e.Instead, "\n", "; "))
	}
	return fmt.Sprintf("%s is not a Go that threelaws knows (%s differs)%s; set GOTOOLCHAIN to one that it knows: %s", e.Version,
		e.Files[0], why, strings.Join(all, ", "))
}

// Versions lists the Go releases on which the patches were tested.
func Versions() []string {
	for line := range strings.Lines(sums) {
		if list, is := strings.CutPrefix(line, "versions "); is {
			return strings.Fields(list)
		}
	}
	panic("overlay: sums.txt has no line of versions")
}

// Cache returns the directory in which overlays are stored by default.
func Cache() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "threelaws"), err
}

// Make writes the overlay of a toolchain to a cache directory, unless it is there already. It copies a toolchain in the
// module cache first, because files there must not be replaced. Then t.Root is the copy.
func Make(t *Toolchain, cache string) (path string, err error) {
	patched, err := patchAll(*t)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the cache %s cannot be written: %w: set XDG_CACHE_HOME to another directory", cache, err)
		}
	}()
	if err := t.leaveModules(cache); err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "overlay", t.Version+"-"+digest()[:12])
	path = filepath.Join(dir, "overlay.json")
	if files, err := Read(path); err == nil && files.of(t.Root) {
		return path, nil
	}
	files := &Files{Replace: map[string]string{}}
	for name, text := range patched {
		if err := files.add(dir, t.Root, name, text); err != nil {
			return "", err
		}
	}
	err = eachAdded(func(name string, text []byte) error { return files.add(dir, t.Root, name, string(text)) })
	if err != nil {
		return "", err
	}
	return path, files.Write(path)
}

// of reports whether the overlay is for the toolchain in a directory, and all its files exist.
func (f *Files) of(root string) bool {
	for at, with := range f.Replace {
		if _, err := os.Stat(with); err != nil || !strings.HasPrefix(at, root+string(filepath.Separator)) {
			return false
		}
	}
	return len(f.Replace) > 0
}

func (f *Files) add(dir, root, name, text string) error {
	at := filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".txt")
	f.Replace[filepath.Join(root, "src", filepath.FromSlash(name))] = at
	return write(at, []byte(text))
}

// written is the modification time of the overlay's files. The go command of 1.25 ignores new packages whose files were
// modified less than two seconds ago.
var written = time.Date(2017, time.March, 1, 0, 0, 0, 0, time.UTC)

// write replaces a file atomically, because two processes may write the file concurrently.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = t.Write(data)
	if err = errors.Join(err, t.Close(), os.Chmod(t.Name(), 0o644), os.Chtimes(t.Name(), written, written)); err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		os.Remove(t.Name())
	}
	return err
}

// Write writes the file that `go build -overlay` reads.
func (f *Files) Write(path string) error {
	data, err := json.MarshalIndent(map[string]any{"Replace": f.Replace}, "", "\t")
	if err != nil {
		return err
	}
	return write(path, data)
}

// Read reads a file that [Files.Write] has written.
func Read(path string) (*Files, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &Files{}
	return f, json.Unmarshal(data, f)
}

// eachAdded calls do for each file that is added to the standard library.
func eachAdded(do func(name string, text []byte) error) error {
	return fs.WalkDir(added, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := added.ReadFile(path)
		if err != nil {
			return err
		}
		name, is := strings.CutPrefix(path, "_std/")
		if !is {
			name = "threelaws/" + path
		}
		return do(name, text)
	})
}

// patchAll returns the patched files of a toolchain, by name relative to GOROOT/src. If the patches were not tested on
// a file, it returns an [UnknownError].
func patchAll(t Toolchain) (map[string]string, error) {
	sources, err := t.sources()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(sums) {
		if f := strings.Fields(line); len(f) > 1 && f[0] != "versions" {
			for _, sum := range f[1:] {
				known[f[0]+" "+sum] = true
			}
		}
	}
	unknown := &UnknownError{Version: t.Version}
	patched := map[string]string{}
	for _, s := range sources {
		if !known[s.name+" "+sum(s.text)] {
			unknown.Files = append(unknown.Files, s.name)
			continue
		}
		if patched[s.name], err = s.patch.apply(s.text); err != nil {
			return nil, fmt.Errorf("overlay: %s: %w", t.Version, err)
		}
	}
	if len(unknown.Files) > 0 {
		slices.Sort(unknown.Files)
		return nil, unknown
	}
	return patched, nil
}

// Sums returns the lines for sums.txt about a toolchain. It returns an error if a patch cannot be applied.
func Sums(t Toolchain) ([]string, error) {
	sources, err := t.sources()
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, s := range sources {
		if _, err := s.patch.apply(s.text); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Version, err)
		}
		lines = append(lines, s.name+" "+sum(s.text))
	}
	slices.Sort(lines)
	return lines, nil
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// digest returns a hash of the overlay's content, so that each version of this package has its own overlay.
func digest() string {
	all := fmt.Sprint(patches, hash, placed, tables)
	if err := eachAdded(func(name string, text []byte) error {
		all += name + "\x00" + string(text)
		return nil
	}); err != nil {
		panic("overlay: " + err.Error())
	}
	return sum(all)
}
