package install

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const crdKind = "CustomResourceDefinition"

func isCRD(o Object) bool { return o.GetKind() == crdKind }

func (f *finder) addCRD(o Object) bool {
	if !defines(o) || f.hasCRD(o.GetName()) {
		return false
	}
	f.CRDs = append(f.CRDs, o)
	return true
}

// defines reports whether an object is a complete CRD, and not a patch of a CRD.
func defines(o Object) bool {
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	return o.GetAPIVersion() == "apiextensions.k8s.io/v1" && o.GetName() != "" && group != "" && kind != "" &&
		len(versions) > 0
}

// findCRDs collects the CRDs of --crds and of the install manifests. Without --crds, it adds the CRDs in
// config/crd/bases. If there are still none, it searches directories named crd or crds, then other directories, then
// examples. Examples come last, because their CRDs may belong to other operators.
func (f *finder) findCRDs(context.Context) error {
	installed := f.CRDs
	if len(f.opts.CRDs) > 0 {
		f.CRDs = nil
		for _, name := range f.opts.CRDs {
			objects, err := f.readGiven("--crds", name)
			if err != nil {
				return err
			}
			n := 0
			for _, o := range objects {
				if isCRD(o) && f.addCRD(o) {
					n++
				}
			}
			if n == 0 {
				return fmt.Errorf("--crds %s: it holds no CustomResourceDefinition of apiextensions.k8s.io/v1 that no "+
					"earlier --crds has", name)
			}
			f.note("%s from %s", definitions(n), name)
		}
		for _, o := range installed {
			f.addCRD(o)
		}
		return nil
	}
	f.takeCRDs(func(file string) bool { return strings.HasPrefix(file, "config/crd/bases/") })
	for _, place := range []func(string) bool{
		func(file string) bool { return !aside(file) && inCRDFolder(file) },
		func(file string) bool { return !aside(file) },
		func(file string) bool { return likelihood(file) < unfit },
	} {
		if len(f.CRDs) == 0 {
			f.takeCRDs(place)
		}
	}
	if len(f.CRDs) == 0 {
		f.note("no CRDs: the operator is taken to work on built-in kinds; name others with --crds")
	}
	return nil
}

// findOtherCRDs collects the CRDs in the repository that findCRDs has left out. Those in directories of examples come
// last.
func (f *finder) findOtherCRDs(context.Context) error {
	known := len(f.CRDs)
	all := f.CRDs
	for _, place := range []func(string) bool{
		func(file string) bool { return !aside(file) },
		func(string) bool { return true },
	} {
		for _, file := range f.files {
			if !place(file) {
				continue
			}
			for _, o := range f.search([]string{file}, func(d document) bool { return d.kind == crdKind && !f.hasCRD(d.name()) }) {
				f.addCRD(o)
			}
		}
	}
	f.CRDs, f.OtherCRDs = all, f.CRDs[known:]
	return nil
}

func inCRDFolder(file string) bool {
	parts := strings.Split(path.Dir(file), "/")
	return slices.ContainsFunc(parts, func(part string) bool { return part == "crd" || part == "crds" })
}

// takeCRDs adds the CRDs in the files for which place returns true, and notes their directories. CRDs can be large, so
// it does not parse a CRD with a known name.
func (f *finder) takeCRDs(place func(file string) bool) {
	had := len(f.CRDs)
	taken, copies := map[string]int{}, map[string]bool{}
	var dirs []string
	for _, file := range f.files {
		if !place(file) {
			continue
		}
		for _, o := range f.search([]string{file}, func(d document) bool {
			again := d.kind == crdKind && f.hasCRD(d.name())
			copies[file] = copies[file] || again
			return d.kind == crdKind && !again
		}) {
			switch {
			case f.addCRD(o):
				dir := path.Dir(file)
				if taken[dir]++; taken[dir] == 1 {
					dirs = append(dirs, dir)
				}
			case o.GetAPIVersion() == "apiextensions.k8s.io/v1beta1":
				f.note("%s: CRD %s is of apiextensions.k8s.io/v1beta1, which no server since 1.22 serves: left out",
					o.place(), o.GetName())
			}
		}
	}
	lacks := ""
	if had > 0 {
		lacks = ", which the install lacks"
	}
	for _, dir := range dirs {
		f.note("%s from %s%s", definitions(taken[dir]), dir, lacks)
	}
	var again []string
	for _, file := range slices.Sorted(maps.Keys(copies)) {
		if copies[file] && !slices.Contains(again, path.Dir(file)) && had == 0 {
			again = append(again, path.Dir(file))
		}
	}
	if len(again) > 0 {
		f.note("CRDs of the same names are in %s as well: left out", strings.Join(again, ", "))
	}
}

func (f *finder) hasCRD(name string) bool {
	return slices.ContainsFunc(f.CRDs, func(have Object) bool { return have.GetName() == name })
}

func crdKindOf(o Object) (group, kind, scope string) {
	group, _, _ = unstructured.NestedString(o.Object, "spec", "group")
	kind, _, _ = unstructured.NestedString(o.Object, "spec", "names", "kind")
	scope, _, _ = unstructured.NestedString(o.Object, "spec", "scope")
	return group, kind, scope
}

// scope returns the scope of an object's kind, if a CRD defines the kind.
func (f *finder) scope(o Object) (scope string, custom bool) {
	gvk := o.GroupVersionKind()
	for _, crd := range f.CRDs {
		if group, kind, scope := crdKindOf(crd); group == gvk.Group && kind == gvk.Kind {
			return scope, true
		}
	}
	return "", false
}

// required matches a line of go.mod that requires a module.
var required = regexp.MustCompile(`(?m)^(?:require)?\s+"?([\w.-]+\.[\w.-]+/[^\s"]+)"?\s+(v\S+)`)

// remoteCRDs finds CRDs that replace a remote manifest. If go.mod requires a module of the repository in the manifest's
// URL, it takes the module's CRDs. They have the version with which the operator is built.
func (f *finder) remoteCRDs(manifest string) (all []Object, module string) {
	u, err := url.Parse(manifest)
	if err != nil {
		return nil, ""
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/") // owner, repository, ...
	if len(parts) < 3 {
		return nil, ""
	}
	text, err := os.ReadFile(filepath.Join(f.Dir, "go.mod"))
	if err != nil {
		return nil, ""
	}
	for _, m := range required.FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(strings.Split(m[1], "/")[1:], parts[1]) {
			continue
		}
		list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m[1])
		list.Dir = f.Dir
		dir, err := list.Output()
		if err != nil || strings.TrimSpace(string(dir)) == "" {
			continue
		}
		if all := f.crdsBelow(strings.TrimSpace(string(dir))); len(all) > 0 {
			for _, crd := range all {
				f.foreign[crd.GetName()] = true
			}
			return all, m[1] + " " + m[2]
		}
	}
	return nil, ""
}

// ModuleCRDs returns the CRDs of a kind in the modules with which the operator is built, at most one of each name. The
// files have the names of modules: "example.com/m@v1.0.0/config/crd/x.yaml".
func (r *Repository) ModuleCRDs(ctx context.Context, group, kind string) (all []Object) {
	list := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-f", "{{with .Module}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}", r.Main)
	list.Dir = r.Dir
	text, _ := list.Output() // with an error, no CRD is found
	lines := strings.Split(string(text), "\n")
	slices.Sort(lines)
	f := &finder{texts: map[string][]document{}}
	for _, line := range slices.Compact(lines) {
		module, dir, _ := strings.Cut(line, " ")
		if dir == "" || dir == r.Dir {
			continue
		}
		for _, o := range f.crdsBelow(dir) {
			again := slices.ContainsFunc(all, func(have Object) bool { return have.GetName() == o.GetName() })
			if of, name, _ := crdKindOf(o); of == group && name == kind && !again {
				o.File = module + "/" + filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(o.File, dir), string(filepath.Separator)))
				all = append(all, o)
			}
		}
	}
	return all
}

// crdsBelow returns the CRDs in the directories crd and crds of a module. Each name occurs once.
func (f *finder) crdsBelow(dir string) (all []Object) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // unreadable files contain no CRD
		switch rel, _ := filepath.Rel(dir, name); {
		case err != nil:
			return nil
		case d.IsDir() && name != dir && skipped(d.Name()):
			return fs.SkipDir
		case d.IsDir() || !isManifest(name) || aside(filepath.ToSlash(rel)) || !inCRDFolder(filepath.ToSlash(rel)):
			return nil
		}
		docs, err := f.split(name)
		if err != nil {
			return nil
		}
		for _, d := range docs {
			if d.kind != crdKind {
				continue
			}
			objects, _ := d.objects() // an error is expected: templates of charts are not YAML
			for _, o := range objects {
				if defines(o) && !slices.ContainsFunc(all, func(have Object) bool { return have.GetName() == o.GetName() }) {
					all = append(all, o)
				}
			}
		}
		return nil
	})
	return all
}

func definitions(n int) string {
	if n == 1 {
		return "1 CRD"
	}
	return fmt.Sprintf("%d CRDs", n)
}
