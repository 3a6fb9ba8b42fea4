package cli

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

func picture(a *app, as, title string, src page.Source) error {
	p := page.Of(titleOf(title), src)
	text := p.SVG()
	if as == "html" {
		var err error
		if text, err = p.HTML(); err != nil {
			return err
		}
	}
	switch {
	case a.json && as == "html":
		return a.encode(drawn{HTML: string(text)})
	case a.json:
		return a.encode(drawn{SVG: string(text)})
	}
	_, err := a.out.Write(text)
	return err
}

const extensionHTML = ".html"

// beside returns the path of the page that is next to a failure's file.
func beside(path string) string { return strings.TrimSuffix(path, extension) + extensionHTML }

// pageOf returns the path for the page of a run: the page next to the file if it exists, otherwise a page in
// .threelaws.
func pageOf(file, law string) string {
	if path := beside(file); onDisk(file) {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	name := strings.TrimSuffix(filepath.Base(file), extension)
	if file == stdin {
		name = "stdin"
	}
	if law != "" {
		name += "-" + law
	}
	if family := filepath.Base(filepath.Dir(file)); family != "." && !strings.HasPrefix(family, ".") {
		name = family + "-" + name
	}
	return filepath.Join(failuresDir, name+extensionHTML)
}

// leave writes the page of a failure. If this fails, it prints the error, without changing the exit code.
func (a *app) leave(path string, p *render.Page, found func() *render.Page) {
	text, err := page.Counterexample(p, found).HTML()
	if dir := filepath.Dir(path); err == nil && dir == failuresDir {
		err = makeOut(dir)
	}
	if err == nil {
		err = writeWhole(path, text)
	}
	if err != nil {
		fmt.Fprintf(a.err, "%s: no page was written: %v\n", a.name, err)
		return
	}
	p.HTML = path
}

// failuresDir is the default of --out. The command run ignores it because of the dot, git because of its .gitignore.
const failuresDir = ".threelaws"

func makeOut(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil || dir != failuresDir {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644)
}

// writeFailure writes a file that replays a failure. Four hexadecimal digits in its name distinguish failures of a law.
func writeFailure(dir string, f *scenarios.File, failing *scenarios.Counterexample) (string, error) {
	if err := makeOut(dir); err != nil {
		return "", usage("--out: %v", err)
	}
	sum := fnv.New32a()
	sum.Write(failing.File)
	base := strings.TrimSuffix(filepath.Base(f.Name), extension)
	path := filepath.Join(dir, fmt.Sprintf("%s-%s-%04x%s", base, failing.Law, sum.Sum32()&0xffff, extension))
	if err := failing.WriteFile(path); err != nil {
		return "", usage("--out: %v", err)
	}
	return path, nil
}

func writeWhole(path string, text []byte) error { return replaceFile(path, text, 0o644) }

// replaceFile replaces a file atomically, also through a symbolic link. It writes to devices such as /dev/stdout.
func replaceFile(path string, text []byte, mode os.FileMode) error {
	if old, err := os.Stat(path); err == nil {
		if mode = old.Mode(); !mode.IsRegular() {
			return os.WriteFile(path, text, mode.Perm())
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".threelaws-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if e := f.Chmod(mode.Perm()); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
