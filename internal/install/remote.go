package install

import (
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// required are the requirements of a go.mod: a module and its version.
var required = regexp.MustCompile(`(?m)^(?:require)?\s+"?([\w.-]+\.[\w.-]+/[^\s"]+)"?\s+(v\S+)`)

// remoteCRDs stand for a remote manifest from a repository of which go.mod requires a module: they are the CRDs of that
// module. The operator imports its types from there, so they are of the version that it is built with. No network is
// used for modules that the build has downloaded.
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

// crdsBelow are the CRDs in the folders crd and crds of a module's directory, each name once.
func (f *finder) crdsBelow(dir string) (all []Object) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // what cannot be read has no CRD
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
			objects, _ := d.objects() // templates of charts are no YAML
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
