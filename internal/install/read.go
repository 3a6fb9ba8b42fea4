package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/yamldoc"
)

// largest is the maximal size in bytes of a file that is read. Files that the options name may be larger.
const largest = 32 << 20

// document is one document of a file. It is parsed on demand, because most documents are not needed.
type document struct {
	file             string // relative to the repository if the file is below it
	line             int    // the number of the first line that is neither blank nor a comment
	text             []byte
	apiVersion, kind string
	parsed           func() ([]Object, error)
}

var errTemplate = errors.New("it is a template: render it first")

func (f *finder) findFiles(context.Context) error {
	err := filepath.WalkDir(f.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			f.note("%s cannot be read: %s: left out", f.rel(name), cause(err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if name != f.Dir && skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			f.sources = append(f.sources, name)
			return nil
		}
		if isPage(name) {
			f.pages = append(f.pages, f.rel(name))
			return nil
		}
		if !isManifest(name) && d.Name() != "Kustomization" || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() > largest {
			f.note("%s has %d MiB, more than %d: left out", f.rel(name), info.Size()>>20, largest>>20)
			return nil
		}
		f.files = append(f.files, f.rel(name))
		return nil
	})
	for _, files := range [][]string{f.files, f.pages} {
		slices.SortStableFunc(files, func(a, b string) int {
			return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
		})
	}
	return err
}

func skipped(dir string) bool {
	return strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_") ||
		slices.Contains([]string{"vendor", "testdata", "node_modules", "third_party", "third-party"}, dir)
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

func cause(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// documents returns the documents of a file. It reads each file once. If a file cannot be read, it notes the error.
func (f *finder) documents(name string) []document {
	if docs, ok := f.texts[name]; ok {
		return docs
	}
	if f.texts == nil {
		f.texts = map[string][]document{}
	}
	docs, err := f.split(name)
	if err != nil {
		f.note("%s cannot be read: %s: left out", name, cause(err))
	}
	f.texts[name] = docs
	return docs
}

func (f *finder) split(name string) ([]document, error) {
	text, err := os.ReadFile(f.abs(name))
	if err != nil {
		return nil, err
	}
	if isPage(name) {
		text, _ = manifestsIn(text)
	}
	return splitText(name, text), nil
}

var (
	apiVersionLine = regexp.MustCompile(`(?m)^apiVersion:[ \t]*["']?([^\s"'#]+)`)
	nameLine       = regexp.MustCompile(`(?m)^ +name:[ \t]*["']?([^\s"'#]+)`)
	kindLine       = regexp.MustCompile(`(?m)^kind:[ \t]*["']?([^\s"'#]+)`)
	yamlLine       = regexp.MustCompile(`line (\d+)`)
	macroLine      = regexp.MustCompile(`(?m)^[ \t]*\{%.*%\}[ \t\r]*$`) // of a generator of documentation, such as {% raw %}
)

func splitText(name string, text []byte) []document {
	var all []document
	text = macroLine.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), nil)
	for _, part := range yamldoc.Split(text) {
		lead := 0
		for line := range bytes.Lines(part.Text) {
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				break
			}
			lead++
		}
		d := document{file: name, line: part.Line + lead, text: part.Text}
		if trimmed := bytes.TrimSpace(part.Text); len(trimmed) > 0 && trimmed[0] == '{' && !bytes.HasPrefix(trimmed, []byte("{{")) {
			var header struct {
				APIVersion string `json:"apiVersion"`
				Kind       string `json:"kind"`
			}
			if yaml.Unmarshal(trimmed, &header) == nil {
				d.apiVersion, d.kind = header.APIVersion, header.Kind
			}
		}
		if m := apiVersionLine.FindSubmatch(part.Text); m != nil {
			d.apiVersion = string(m[1])
		}
		if m := kindLine.FindSubmatch(part.Text); m != nil {
			d.kind = string(m[1])
		}
		if d.kind != "" && d.apiVersion != "" {
			d.parsed = sync.OnceValues(d.parse)
			all = append(all, d)
		}
	}
	return all
}

// name finds the name of a document's object without parsing the document.
func (d document) name() string {
	if m := nameLine.FindSubmatch(d.text); m != nil {
		return string(m[1])
	}
	return ""
}

// objects returns the objects of a document. A List is replaced by its items.
func (d document) objects() ([]Object, error) { return d.parsed() }

func (d document) parse() ([]Object, error) {
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON(d.text)
	if err == nil {
		err = json.Unmarshal(data, &u.Object)
	}
	switch {
	case err != nil && bytes.Contains(d.text, []byte("{{")):
		return nil, fmt.Errorf("%s:%d: bad YAML: %w", d.file, d.line, errTemplate)
	case err != nil:
		return nil, d.wrong(err)
	}
	if u.IsList() && strings.HasSuffix(u.GetKind(), "List") {
		var all []Object
		err := u.EachListItem(func(item runtime.Object) error {
			if item, ok := item.(*unstructured.Unstructured); ok {
				all = append(all, Object{item, d.file, d.line})
			}
			return nil
		})
		return all, err
	}
	if u.GetKind() == "" || u.GetAPIVersion() == "" {
		return nil, nil
	}
	return []Object{{u, d.file, d.line}}, nil
}

// wrong adds the file and the line to an error of the YAML library, which counts lines from the start of the document.
func (d document) wrong(err error) error {
	line := d.line
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // the pattern matches only digits
		lead := bytes.Count(d.text[:len(d.text)-len(bytes.TrimLeft(d.text, " \t\r\n"))], []byte("\n"))
		line = max(line, line-lead+n-1)
		text = strings.TrimPrefix(text, "yaml: line "+m[1]+": ")
	}
	if first, _, more := strings.Cut(text, "\n"); more {
		text = first
	}
	return fmt.Errorf("%s:%d: bad YAML: %s", d.file, line, text)
}

// search returns the objects that wanted accepts. It calls wanted before it parses a document, unless the document is a
// List. Then it calls wanted for each object. It adds notes about bad YAML, but not about templates.
func (f *finder) search(files []string, wanted func(d document) bool) []Object {
	var all []Object
	for _, name := range files {
		for _, d := range f.documents(name) {
			if d.kind != "List" && !wanted(d) {
				continue
			}
			objects, err := d.objects()
			if err != nil && !errors.Is(err, errTemplate) {
				f.note("%v: left out", err)
			}
			for _, o := range objects {
				if wanted(document{apiVersion: o.GetAPIVersion(), kind: o.GetKind()}) {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// readGiven reads the objects of the file or directory that an option names, such as --crds. It returns an error for
// invalid YAML, and if there is no object. If a directory has several manifests, templates are noted and left out.
func (f *finder) readGiven(flag, name string) ([]Object, error) {
	at, err := f.given(name)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %s", flag, name, cause(err))
	}
	files := []string{at}
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		files = nil
		err := filepath.WalkDir(at, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isManifest(name) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", flag, name, err)
		}
	}
	var all []Object
	for _, file := range files {
		docs, err := f.split(f.rel(file))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %s", flag, f.rel(file), cause(err))
		}
		for _, d := range docs {
			objects, err := d.objects()
			switch {
			case errors.Is(err, errTemplate) && len(files) > 1:
				f.note("%v: left out", err)
			case err != nil:
				return nil, err
			}
			all = append(all, objects...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s %s: it holds no manifest: a manifest has apiVersion and kind", flag, name)
	}
	return all, nil
}
