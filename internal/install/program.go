package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	gobuild "go/build"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/cgo"
)

// names contains the names under which the manifests may mention the operator.
type names struct {
	binaries []string // possible names of the program in the image: "manager"
	project  []string // the names of the module and of the project
	image    *recipe  // how the operator's image is built; nil if no Dockerfile builds it
}

func (f *finder) findModule(context.Context) error {
	dir, err := filepath.Abs(f.opts.Dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: no such directory", f.opts.Dir)
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			f.Dir = at
			f.names.project = append(f.names.project, moduleName(modulePath(text)))
			return nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	below, _ := filepath.Glob(filepath.Join(dir, "*", "go.mod")) // Glob fails only for an invalid pattern
	if len(below) > 0 {
		for i, file := range below {
			below[i] = filepath.Base(filepath.Dir(file))
		}
		return fmt.Errorf("%s: no go.mod here or above: run the command in the operator's module, one of %s", dir,
			strings.Join(below, ", "))
	}
	return fmt.Errorf("%s: no go.mod here or above: run the command in the operator's repository", dir)
}

func modulePath(text []byte) string {
	m := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// moduleName returns the last element of a module path, without a version.
func moduleName(module string) string {
	dir, base := path.Split(module)
	if regexp.MustCompile(`^v\d+$`).MatchString(base) && dir != "" {
		base = path.Base(dir)
	}
	return base
}

func (f *finder) findMain(ctx context.Context) error {
	layout := f.project()
	f.recipes = recipes(f.Dir)
	if f.opts.Main != "" {
		if err := f.givenMain(); err != nil {
			return err
		}
	}
	if named := f.Main == "." && !f.opts.Test && !f.isMain("."); f.Main == "" || named { // "." is the repository
		if err := f.searchMain(ctx, layout); err != nil {
			return err
		}
	}
	f.nameBinaries()
	if f.opts.Test {
		return nil
	}
	if err := cgo.Check(ctx, f.Dir, f.Main); err != nil {
		return err
	}
	return f.listMain(ctx)
}

// project reads kubebuilder's PROJECT file. It returns the usual main package for its layout, "./cmd" or ".", or "".
func (f *finder) project() string {
	text, err := os.ReadFile(filepath.Join(f.Dir, "PROJECT"))
	if err != nil {
		return ""
	}
	var p struct {
		Layout      any    `json:"layout"`
		ProjectName string `json:"projectName"`
		Version     string `json:"version"`
	}
	if err := yaml.Unmarshal(text, &p); err != nil {
		f.note("PROJECT: not YAML: left out")
		return ""
	}
	if p.ProjectName != "" && !slices.Contains(f.names.project, p.ProjectName) {
		f.names.project = append(f.names.project, p.ProjectName)
	}
	where := "."
	if strings.Contains(fmt.Sprint(p.Layout), "/v4") {
		where = "./cmd"
	}
	if !f.isMain(where) {
		return ""
	}
	return where
}

func (f *finder) isMain(pkg string) bool {
	p, err := gobuild.ImportDir(f.abs(pkg), 0)
	if multiple := (*gobuild.MultiplePackageError)(nil); errors.As(err, &multiple) {
		return slices.Contains(multiple.Packages, "main")
	}
	return err == nil && p.Name == "main"
}

// local returns a main package of the repository as "./cmd/x", otherwise "". pkg is an import path, a directory, a
// file, or a pattern such as "./cmd/...".
func (f *finder) local(pkg string) string {
	if text, err := os.ReadFile(filepath.Join(f.Dir, "go.mod")); err == nil {
		if module := modulePath(text); pkg == module {
			pkg = "."
		} else if below, ok := strings.CutPrefix(pkg, module+"/"); ok {
			pkg = below
		}
	}
	if pkg = strings.TrimSuffix(pkg, "/..."); path.Ext(pkg) == ".go" {
		pkg = path.Dir(pkg)
	}
	if pkg = path.Clean(pkg); !filepath.IsLocal(pkg) || !f.isMain(pkg) {
		return ""
	}
	return dotted(pkg)
}

func dotted(pkg string) string {
	if pkg == "." {
		return pkg
	}
	return "./" + pkg
}

func (f *finder) givenMain() error {
	path, err := f.given(f.opts.Main)
	if err != nil { // the option is an import path
		f.Main = cmp.Or(f.local(f.opts.Main), f.opts.Main)
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	f.Main = dotted(f.rel(path))
	return nil
}

// builtBy returns the main package of the program in an image, or "" if it is unknown. First it searches the Dockerfile
// and the Makefile for a build command whose output has the name of the entry point. Otherwise it takes the directory
// below cmd with this name, or the only package that the Dockerfile builds.
func (f *finder) builtBy(r *recipe) string {
	lines := slices.Clone(r.builds)
	lines = append(lines, f.makefile().builds...)
	binary := r.binary()
	if binary != "" {
		for _, b := range lines {
			if pkg := f.local(b.pkg); pkg != "" && cmp.Or(b.output, path.Base(pkg)) == binary {
				return pkg
			}
		}
		if pkg := f.local("cmd/" + binary); pkg != "" {
			return pkg
		}
	}
	var found []string
	for _, b := range r.builds {
		if pkg := f.local(b.pkg); pkg != "" && !slices.Contains(found, pkg) {
			found = append(found, pkg)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}

// makefile reads the Makefile of the repository. If there is none, the result is empty.
func (f *finder) makefile() makefile {
	text, _ := os.ReadFile(filepath.Join(f.Dir, "Makefile"))
	return readMakefile(text)
}

func (f *finder) nameBinaries() {
	add := func(name string) {
		if name != "" && name != "." && name != "/" && !slices.Contains(f.names.binaries, name) {
			f.names.binaries = append(f.names.binaries, name)
		}
	}
	for _, r := range f.recipes {
		if f.names.image == nil && f.builtBy(r) == f.Main {
			f.names.image = r
		}
	}
	f.Tags = f.tags()
	if r := f.names.image; r != nil {
		add(r.binary())
		for _, b := range r.builds {
			if f.local(b.pkg) == f.Main {
				add(b.output)
			}
		}
	} else {
		add("manager")
	}
	if base := programName(f.Main); base != "cmd" {
		add(base)
	}
}

// tags returns the build tags of the main package in the Dockerfile or, if no Dockerfile builds anything, in the Makefile.
// It returns "" if one of the build commands has no tags.
func (f *finder) tags() string {
	var lines []build
	file := ""
	if r := f.names.image; r != nil {
		lines, file = r.builds, r.file
	}
	if len(lines) == 0 {
		lines, file = f.makefile().builds, "Makefile"
	}
	own := slices.DeleteFunc(slices.Clone(lines), func(b build) bool { return f.local(b.pkg) != f.Main })
	for _, b := range own {
		if b.tags == "" { // a build with tags is one of several branches, for example for FIPS
			return ""
		}
	}
	for _, b := range own {
		if !strings.ContainsAny(b.tags, "$`") {
			f.note("build tags %s, from %s", b.tags, file)
			return b.tags
		}
	}
	return ""
}

// listMain runs go list to check that the package is a main package and that its imports exist.
func (f *finder) listMain(ctx context.Context) error {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{.Name}}", f.Main)
	list.Dir = f.Dir
	var stdout, stderr bytes.Buffer
	list.Stdout, list.Stderr = &stdout, &stderr
	if err := list.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := os.Stat(filepath.Join(f.abs(f.Main), "go.mod")); err == nil && f.Main != "." {
			return fmt.Errorf("%s: it is a module of its own: run threelaws check there, with --install, --crds and "+
				"--sample for the files here", f.Main)
		}
		return fmt.Errorf("%s: %s", f.Main, goListError(stderr.String(), err))
	}
	names := strings.Fields(stdout.String()) // go list prints the package last, after its imports
	if len(names) == 0 {
		return fmt.Errorf("%s: no such package", f.Main)
	}
	if name := names[len(names)-1]; name != "main" {
		return fmt.Errorf("%s: it is package %s, and main is needed: name the operator's main package, as in "+
			"threelaws check ./cmd/manager", f.Main, name)
	}
	return nil
}

var (
	replacement = regexp.MustCompile(`(\S+)@\S+: replacement directory (\S+) does not exist`)
	emptied     = regexp.MustCompile(`(\S+)@\S+ \(replaced by (\S+)\): reading \S+: open \S+: no such file`)
	unusable    = regexp.MustCompile(`cannot load module (\S+) listed in go.work file`)
	unprovided  = regexp.MustCompile(`no required module provides package (\S+?)[;:]`)
	embedded    = regexp.MustCompile(`\S+: pattern \S+: no matching files found`)
	newerGo     = regexp.MustCompile(`requires go >= (\S+) \(running go (\S+); GOTOOLCHAIN=`)
	vendored    = regexp.MustCompile(`inconsistent vendoring|import lookup disabled by -mod=vendor`)
)

func goListError(stderr string, err error) string {
	if m := replacement.FindStringSubmatch(stderr); m != nil {
		return fmt.Sprintf("go.mod replaces %s by %s, which is not there: use a full checkout of the repository, since a "+
			"module's zip lacks nested modules", m[1], m[2])
	}
	if m := emptied.FindStringSubmatch(stderr); m != nil {
		return fmt.Sprintf("go.mod replaces %s by %s, which has no go.mod: if it is a submodule, run git submodule update --init", m[1], m[2])
	}
	if m := unusable.FindStringSubmatch(stderr); m != nil {
		return fmt.Sprintf("go.work lists %s, which has no go.mod: use a full checkout of the repository, or set GOWORK=off", m[1])
	}
	if m := unprovided.FindStringSubmatch(stderr); m != nil {
		return fmt.Sprintf("no module in go.mod provides the package %s: run go mod tidy", m[1])
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "there is no go command in PATH: install Go"
	}
	if vendored.MatchString(stderr) {
		return "the vendor folder does not fit go.mod: use a full checkout of the repository, run go mod vendor, or set " +
			"GOFLAGS=-mod=mod"
	}
	if m := embedded.FindString(stderr); m != "" {
		return m + ": if it is generated, generate it first (make generate, make build); if it is in a submodule, run git submodule update --init"
	}
	if m := newerGo.FindStringSubmatch(stderr); m != nil {
		return fmt.Sprintf("go.mod requires Go %s, and the go command in PATH is %s: install that release, or set "+
			"GOTOOLCHAIN=auto, so that the go command downloads it", m[1], m[2])
	}
	said := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "go: "))
		switch response, is := strings.CutPrefix(line, "server response:"); {
		case is && said != "":
			return strings.TrimRight(said, ":;") + ":" + response
		case line != "" && !strings.HasPrefix(line, "downloading ") && said == "":
			said = "go list: " + line
		case strings.HasSuffix(said, ":") && line != "":
			said += " " + line
		}
	}
	return cmp.Or(strings.TrimRight(said, ":;"), fmt.Sprintf("go list: %v", err))
}
