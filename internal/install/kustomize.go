package install

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func kustomization(dir string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file
		}
	}
	return ""
}

// kustomize renders the kustomization in a directory. It runs no plugins and uses no network.
func (f *finder) kustomize(dir string) (_ []Object, err error) {
	f.remote = nil
	if _, err := f.checkLocal(dir, map[string]bool{}); err != nil {
		return nil, err
	}
	defer func() {
		// The library panics on some malformed kustomizations.
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: kustomize panics: %v", f.rel(dir), p)
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	options.Reorder = krusty.ReorderOptionNone
	end := silence()
	found, err := krusty.MakeKustomizer(options).Run(readOnly{filesys.MakeFsOnDisk()}, dir)
	end()
	if err != nil {
		return nil, f.kustomizeError(dir, err)
	}
	var all []Object
	for _, r := range found.Resources() {
		data, err := r.MarshalJSON()
		if err != nil {
			return nil, f.kustomizeError(dir, err)
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &u.Object); err != nil {
			return nil, f.kustomizeError(dir, err)
		}
		file := kustomization(dir)
		if origin, err := r.GetOrigin(); err == nil && origin != nil {
			if origin.Path != "" {
				file = filepath.Join(dir, origin.Path)
			} else if origin.ConfiguredIn != "" {
				file = filepath.Join(dir, origin.ConfiguredIn)
			}
		}
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", originAnnotation)
		if len(u.GetAnnotations()) == 0 {
			unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
		}
		o := Object{u, f.rel(file), 0}
		o.Line = f.lineOf(o)
		all = append(all, o)
	}
	return append(all, f.remote...), nil
}

// silence discards what the libraries of kustomize and Helm write to os.Stderr and with package log, until the returned
// function is called. They warn about deprecated fields and symbolic links.
func silence() (end func()) {
	stderr, logged := os.Stderr, log.Writer()
	log.SetOutput(io.Discard)
	os.Stderr = nil // writes to a nil file fail, so nothing is printed
	return func() {
		os.Stderr = stderr
		log.SetOutput(logged)
	}
}

const originAnnotation = "config.kubernetes.io/origin"

// lineOf returns the line of the document from which kustomize rendered an object. kustomize can add a prefix and a
// suffix to a name. So lineOf takes the document with the longest name that the object's name contains.
func (f *finder) lineOf(o Object) int {
	line, longest := 0, -1
	for _, d := range f.documents(o.File) {
		if d.kind != o.GetKind() {
			continue
		}
		if name := d.name(); len(name) > longest && strings.Contains(o.GetName(), name) {
			line, longest = d.line, len(name)
		}
	}
	return line
}

// readOnly is a read-only file system. In kustomizations, it adds the origin annotation and removes remote files.
type readOnly struct{ filesys.FileSystem }

var errReadOnly = errors.New("the repository is only read")

func (readOnly) Create(string) (filesys.File, error) { return nil, errReadOnly }
func (readOnly) Mkdir(string) error                  { return errReadOnly }
func (readOnly) MkdirAll(string) error               { return errReadOnly }
func (readOnly) RemoveAll(string) error              { return errReadOnly }
func (readOnly) WriteFile(string, []byte) error      { return errReadOnly }

func (r readOnly) ReadFile(name string) ([]byte, error) {
	text, err := r.FileSystem.ReadFile(name)
	if err != nil || !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(name)) {
		return text, err
	}
	var fields map[string]any
	if yaml.Unmarshal(text, &fields) != nil || fields == nil {
		return text, nil // kustomize reports the error
	}
	list, _ := fields["buildMetadata"].([]any)
	if !slices.Contains(list, any(types.OriginAnnotations)) {
		fields["buildMetadata"] = append(list, types.OriginAnnotations)
	}
	if resources, ok := fields["resources"].([]any); ok {
		fields["resources"] = slices.DeleteFunc(resources, func(entry any) bool {
			text, _ := entry.(string)
			return remoteFile(text)
		})
	}
	return yaml.Marshal(fields)
}

// checkLocal returns the local files that a kustomization lists, except patches. It returns an error for a missing
// file, a chart, or a remote base, because kustomize would run git. It adds a note about each remote file.
func (f *finder) checkLocal(dir string, seen map[string]bool) (files []string, _ error) {
	if seen[dir] {
		return nil, nil
	}
	seen[dir] = true
	file := kustomization(dir)
	if file == "" {
		return files, fmt.Errorf("%s: it has no kustomization.yaml", f.rel(dir))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return files, fmt.Errorf("%s: %s", f.rel(file), cause(err))
	}
	var k types.Kustomization
	if err := k.Unmarshal(text); err != nil {
		return files, fmt.Errorf("%s: %s", f.rel(file), oneLine(err.Error()))
	}
	k.FixKustomization()
	for _, list := range [][]string{k.Resources, k.Components, k.Crds, k.Configurations, k.Generators, k.Transformers,
		k.Validators} {
		for _, entry := range list {
			if strings.Contains(entry, "\n") {
				continue // a patch or manifest that is inline in the kustomization
			}
			at := filepath.Join(dir, entry)
			info, err := os.Stat(at)
			switch {
			case remoteFile(entry):
				crds, module := f.remoteCRDs(entry)
				if f.remote = append(f.remote, crds...); module == "" {
					f.note("%s:%d: %s is remote: left out; download it and name it with --with, or with --crds", f.rel(file),
						lineWith(text, entry), entry)
				} else {
					f.note("%s:%d: %s is remote: the CRDs of module %s take its place", f.rel(file), lineWith(text, entry), entry,
						module)
				}
			case remote(entry):
				return files, fmt.Errorf("%s:%d: %s is remote: nothing is fetched: name another install with --install, or "+
					"copy it into the repository", f.rel(file), lineWith(text, entry), entry)
			case err != nil:
				return files, fmt.Errorf("%s:%d: %s: %s: if it is generated, generate it first (make manifests)", f.rel(file),
					lineWith(text, entry), entry, cause(err))
			case info.IsDir():
				below, err := f.checkLocal(at, seen)
				if files = append(files, below...); err != nil {
					return files, err
				}
			default:
				files = append(files, f.rel(at))
			}
		}
	}
	for _, p := range k.Patches {
		if remote(p.Path) {
			return files, fmt.Errorf("%s:%d: %s is remote: nothing is fetched: copy it into the repository", f.rel(file),
				lineWith(text, p.Path), p.Path)
		}
	}
	if len(k.HelmCharts) > 0 || len(k.HelmChartInflationGenerator) > 0 {
		return files, fmt.Errorf("%s:%d: helmCharts are not rendered: name the chart with --install", f.rel(file),
			lineWith(text, "helmChart"))
	}
	return files, nil
}

var remotePath = regexp.MustCompile(`(?i)^(git::|https?://|ssh://|file://|github\.com[/:]|[a-z][a-z0-9-]*@)|://`)

// remote reports whether kustomize treats a path as a URL or a git repository.
func remote(entry string) bool { return remotePath.MatchString(entry) }

func remoteFile(entry string) bool {
	return isManifest(entry) && (strings.HasPrefix(entry, "http://") || strings.HasPrefix(entry, "https://"))
}

// lineWith returns the number of the first line that contains a word and is not a comment, or 1.
func lineWith(text []byte, word string) int {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.Contains(line, word) {
			return n
		}
	}
	return 1
}

// wrapped matches the prefixes that kustomize adds to an error.
var wrapped = regexp.MustCompile(`^(accumulating (resources|components)( from '[^']*')?: |accumulation err='|` +
	`recursed (accumulation of|merging from) path '[^']*': |merging resources from '[^']*': )`)

// kustomizeError returns the cause of a kustomize error, with the innermost directory in which it occurred.
func (f *finder) kustomizeError(dir string, err error) error {
	text := err.Error()
	where := f.rel(dir)
	const recursed = "recursed accumulation of path '"
	if i := strings.LastIndex(text, recursed); i >= 0 {
		rest := text[i+len(recursed):]
		if path, cause, ok := strings.Cut(rest, "': "); ok {
			where, text = f.rel(path), cause
		}
	}
	for wrapped.MatchString(text) {
		text = wrapped.ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, f.Dir+string(filepath.Separator), "")
	return fmt.Errorf("%s: kustomize: %s", where, oneLine(text))
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 400 {
		text = text[:400] + "..."
	}
	return text
}
