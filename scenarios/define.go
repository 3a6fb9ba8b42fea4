package scenarios

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// servers is where names of kinds are looked up: in a run its own server, and
// behind it what the file defines somewhere, which in this schedule may come
// later.
type servers []*fakeapi.Server

// kindNamed finds a kind by what a person types, nil when there is none.
func (in servers) kindNamed(name string) *fakeapi.Kind {
	for _, s := range in {
		if k := s.KindNamed(name); k != nil {
			return k
		}
	}
	return nil
}

// names is where the run's verbs look up kinds.
func (r *Run) names() servers {
	if r.file == nil || r.file.server == nil {
		return servers{r.t.Server}
	}
	return servers{r.t.Server, r.file.server}
}

// defines reports whether the manifest defines a kind.
func (m *Manifest) defines() bool {
	return m.Kind.GVK.Kind == definitionKind && m.Kind.GVK.Group == apiextensionsv1.GroupName
}

const definitionKind = "CustomResourceDefinition"

// defined is the group and the kind that a definition defines.
func (m *Manifest) defined() schema.GroupKind {
	d := m.Object.(*apiextensionsv1.CustomResourceDefinition)
	return schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
}

// define applies a definition to a server that is of no run, so that what
// follows in the file can be checked. It returns what the server refused, ""
// when it took it.
func define(server *fakeapi.Server, m *Manifest) string {
	name := m.Object.(metav1.Object).GetName()
	req := createRequest(m)
	if server.Lookup(m.Kind, "", name) != nil {
		req = &fakeapi.Request{Verb: fakeapi.Patch, Kind: m.Kind, Name: name, PatchType: types.MergePatchType, Patch: m.JSON}
	}
	resp, _ := server.Do(time.Unix(0, 0), req)
	if resp.Err == nil {
		return ""
	}
	st := resp.Err.ErrStatus
	return render.RefusalOf(&sim.Record{Code: int(st.Code), Reason: string(st.Reason), Message: st.Message})
}

// definedBy is the name of the section that defines a kind of this name, ""
// when there is none: for the message about a kind that is used too early.
func (f *File) definedBy(name string) string {
	for _, sec := range f.Sections {
		docs := yaml.NewDecoder(strings.NewReader(sec.Body))
		for {
			var d struct {
				Kind string
				Spec struct {
					Names struct {
						Kind, Plural, Singular string
						ShortNames             []string `yaml:"shortNames"`
					}
				}
			}
			if err := docs.Decode(&d); err != nil {
				break
			}
			n := d.Spec.Names
			all := append([]string{n.Kind, n.Plural, n.Singular}, n.ShortNames...)
			if d.Kind == definitionKind && name != "" && slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, name) }) {
				return sec.Name
			}
		}
	}
	return ""
}

// unknownKind says that there is no such kind; valid are the words there are.
func (f *File) unknownKind(name string, valid []string) string {
	if sec := f.definedBy(name); sec != "" {
		return "unknown kind " + name + ": " + sec + " defines it, which is applied later or not at all"
	}
	if n := Nearest(name, valid); n != "" {
		return "unknown kind " + name + "; did you mean " + n + "?"
	}
	return "unknown kind " + name
}

// under lists the sections at a path: the one of that name, and those in the
// directory of that name.
func (f *File) under(name string) []*Section {
	var all []*Section
	for _, s := range f.Sections {
		if s.Name == name || strings.HasPrefix(s.Name, strings.TrimSuffix(name, "/")+"/") {
			all = append(all, s)
		}
	}
	return all
}

// definitions lists the sections with the definitions at a path: those of the
// archive, or else files, relative to the scenario's own, which become sections
// that are not part of its text.
func (f *File) definitions(s *Step, name string) ([]*Section, error) {
	if all := f.under(name); len(all) > 0 {
		return all, nil
	}
	at := filepath.FromSlash(name)
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(f.Name), at)
	}
	files, err := definitionFiles(at)
	if err != nil {
		return nil, s.wrong("%s: no section has this name, and there is no such file or directory%s", name, suggest(name, f.SectionNames()))
	}
	for _, file := range files {
		data, err := readFile(file)
		if err != nil {
			return nil, err
		}
		sec := &Section{Name: path.Clean(name), Body: string(data), origin: file}
		if file != at {
			sec.Name = path.Join(name, filepath.Base(file))
		}
		if strings.Contains(sec.Body, definitionKind) {
			f.Sections = append(f.Sections, sec)
		}
	}
	all := f.under(path.Clean(name))
	if len(all) == 0 {
		return nil, s.wrong("no %s in %s", definitionKind, name)
	}
	return all, nil
}

// definitionFiles lists a file, or the manifests in a directory by name.
func definitionFiles(at string) ([]string, error) {
	st, err := os.Stat(at)
	if err != nil || !st.IsDir() {
		return []string{at}, err
	}
	entries, err := os.ReadDir(at)
	var files []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json":
			if !e.IsDir() {
				files = append(files, filepath.Join(at, e.Name()))
			}
		}
	}
	return files, err
}
