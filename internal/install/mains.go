package install

import (
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// searchMain takes the main package of PROJECT's layout or of an image, otherwise the likeliest one of the module.
func (f *finder) searchMain(ctx context.Context, layout string) error {
	images := slices.DeleteFunc(slices.Clone(f.recipes), func(r *recipe) bool { return f.builtBy(r) == "" })
	// The main package of PROJECT's layout may be only a stub for kubebuilder. Then no image contains it.
	shipped := slices.ContainsFunc(images, func(r *recipe) bool { return f.builtBy(r) == layout })
	if layout != "" && (shipped || len(images) == 0 || images[0].file != "Dockerfile") {
		f.take(layout, "PROJECT")
		return nil
	}
	if len(images) > 0 {
		f.names.image = images[0]
		if images[0].file != "Dockerfile" {
			f.names.image = f.likeliest(ctx, images)
			// The operator's image may not show what it runs.
			if best := f.narrow(ctx, f.commands()); len(best) == 1 && f.likely(best[0]) && !f.likely(f.operatorOf(f.names.image)) {
				f.names.image = nil
				f.take(best[0], "its name")
				return nil
			}
		}
		f.take(f.operatorOf(f.names.image), f.names.image.file)
		return nil
	}
	found := f.narrow(ctx, f.commands())
	switch {
	case len(found) == 1 && strings.HasPrefix(found[0], "./cmd"):
		f.take(found[0], "cmd")
	case len(found) == 1:
		f.take(found[0], "its name")
	case len(found) > 1:
		return fmt.Errorf("%s: several main packages: %s: name the operator's, as in threelaws check %s", f.Dir,
			strings.Join(found, ", "), found[0])
	case f.isMain("."):
		f.take(".", "the module's root")
	default:
		return fmt.Errorf("%s: the module has no main package: run threelaws check in the operator's module, or name its "+
			"main package, as in threelaws check ./path/to/main", f.Dir)
	}
	return nil
}

// operatorOf returns the main package of an image. If only one package that its Dockerfile builds has an operator's name,
// it returns this one: the last stage may be the image of another program.
func (f *finder) operatorOf(r *recipe) string {
	pkg := f.builtBy(r)
	var named []string
	for _, b := range r.builds {
		if other := f.local(b.pkg); other != "" && f.likely(other) && !slices.Contains(named, other) {
			named = append(named, other)
		}
	}
	if len(named) == 1 && !f.likely(pkg) {
		return named[0]
	}
	return pkg
}

// likeliest returns the image that runs the likeliest main package, or the first image if several are equally likely.
func (f *finder) likeliest(ctx context.Context, images []*recipe) *recipe {
	var built []string
	for _, r := range images {
		if pkg := f.builtBy(r); !slices.Contains(built, pkg) {
			built = append(built, pkg)
		}
	}
	if best := f.narrow(ctx, built); len(best) == 1 {
		return images[slices.IndexFunc(images, func(r *recipe) bool { return f.builtBy(r) == best[0] })]
	}
	return images[0]
}

// narrow returns the packages with an operator's name. If these are several, it returns those that can elect a leader,
// and of these the one that is built with the project's name, or whose whole name is such as "manager".
func (f *finder) narrow(ctx context.Context, pkgs []string) []string {
	named := slices.DeleteFunc(slices.Clone(pkgs), func(pkg string) bool { return !f.likely(pkg) })
	if len(named) == 0 {
		named = pkgs
	}
	if len(named) < 2 {
		return named
	}
	if electing := f.elects(ctx, named); len(electing) > 0 {
		named = electing
	}
	for _, pkg := range named {
		if slices.Contains(f.names.project, programName(pkg)) {
			return []string{pkg}
		}
	}
	for _, r := range f.recipes {
		for _, b := range r.builds {
			if pkg := f.local(b.pkg); slices.Contains(named, pkg) && slices.Contains(f.names.project, b.output) {
				return []string{pkg}
			}
		}
	}
	for _, pkg := range named { // the packages below it are tools
		if !slices.ContainsFunc(named, func(other string) bool { return other != pkg && !strings.HasPrefix(other, pkg+"/") }) {
			return []string{pkg}
		}
	}
	if plain := slices.DeleteFunc(slices.Clone(named), func(pkg string) bool { return !slices.Contains(usual, programName(pkg)) }); len(plain) == 1 {
		return plain
	}
	return named
}

// usual contains the names of many operators' main packages.
var usual = []string{"manager", "operator", "controller", "master"}

var apiVersion = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

// programName returns the last element of a package that is no API version.
func programName(pkg string) string {
	if base := path.Base(pkg); !apiVersion.MatchString(base) {
		return base
	}
	return path.Base(path.Dir(pkg))
}

func (f *finder) likely(pkg string) bool {
	base := programName(pkg)
	last := base[strings.LastIndex(base, "-")+1:]
	return slices.Contains(f.names.project, base) || slices.Contains(usual, last)
}

func (f *finder) take(pkg, from string) {
	f.Main = pkg
	f.note("main package %s, from %s", pkg, from)
	others := slices.DeleteFunc(f.commands(), func(other string) bool { return other == pkg || !f.likely(other) })
	if len(others) > 0 {
		f.note("other main packages may be an operator's: %s: name one, as in threelaws check %s",
			strings.Join(others, ", "), others[0])
	}
}

// commands returns the main packages in cmd and directly below it. If there are none, and the module's root is no main
// package either, it returns all main packages of the module, without examples, tests and development tools.
func (f *finder) commands() (found []string) {
	dirs, _ := filepath.Glob(filepath.Join(f.Dir, "cmd", "*")) // Glob fails only for an invalid pattern
	for _, dir := range append(dirs, filepath.Join(f.Dir, "cmd")) {
		if pkg := dotted(f.rel(dir)); f.isMain(pkg) {
			found = append(found, pkg)
		}
	}
	if len(found) > 0 || f.isMain(".") {
		return found
	}
	_ = filepath.WalkDir(f.Dir, func(name string, d fs.DirEntry, err error) error { // unreadable directories have none
		switch {
		case err != nil || !d.IsDir():
			return nil
		case name != f.Dir && (skipped(d.Name()) || aside(f.rel(name))):
			return fs.SkipDir
		case f.isMain(f.rel(name)):
			found = append(found, dotted(f.rel(name)))
		}
		return nil
	})
	return found
}

// elects returns the main packages that can elect a leader, as nearly all operators can.
func (f *finder) elects(ctx context.Context, pkgs []string) []string {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "-f", `{{.Dir}} {{join .Deps " "}}`}, pkgs...)...)
	list.Dir = f.Dir
	text, _ := list.Output() // a package that cannot be listed is reported if it is chosen
	var all []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); slices.Contains(fields, "k8s.io/client-go/tools/leaderelection") {
			all = append(all, dotted(f.rel(fields[0])))
		}
	}
	return all
}
