package casefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// File compiles the case to a file. An error is a mistake in the case. The error names the field of the case: "User[0]:
// unknown verb delte; did you mean delete?".
func (c *Case) File(name string) (*scenarios.File, error) {
	f, _, err := c.compile(name)
	return f, err
}

// text is a generated file. origin lists the parts of the file in order.
type text struct {
	strings.Builder
	lines  int
	origin []origin
}

// origin is a part of a case, or a file that the case reads.
type origin struct {
	from  int    // the part's first line in the generated file
	name  string // "User[0]", "config/crd/widgets.yaml"
	lines bool   // errors about the part contain a line number in the part, from 1
}

func (t *text) add(name string, lines bool, body string) {
	t.origin = append(t.origin, origin{t.lines + 1, name, lines})
	t.WriteString(body)
	t.lines += strings.Count(body, "\n")
}

// at returns the origin of a line of the generated file, or nil if the file is empty.
func (t *text) at(line int) *origin {
	var found *origin
	for i := range t.origin {
		if t.origin[i].from <= line {
			found = &t.origin[i]
		}
	}
	return found
}

func (t *text) explain(err error) error {
	var e *scenarios.Error
	if !errors.As(err, &e) || e.Line == 0 {
		return err
	}
	told, o := *e, t.at(e.Line)
	told.File, told.Line = o.name, 0
	if o.lines {
		told.Line = e.Line - o.from + 1
	}
	return &told
}

// compile generates the file of a case and parses it. The returned text contains the origins of the lines.
func (c *Case) compile(name string) (*scenarios.File, *text, error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	parts, err := c.manifests()
	if err != nil {
		return nil, nil, err
	}
	t := &text{}
	t.add("Case", false, "# "+name+"\n\n")
	c.install(name, t)
	for i, p := range parts {
		t.add(p.name, false, "apply "+section(i)+"\n")
	}
	t.add("Controllers", false, "controllers")
	for _, k := range slices.Concat(c.Controllers, c.Beside) {
		t.WriteString(" " + k.FullName())
	}
	t.add("Controllers, With", false, strings.Join(append([]string{""}, c.With...), " ")+"\n")
	c.script(t)
	for i, p := range parts {
		t.add(p.name, false, "-- "+section(i)+" --\n")
		t.add(p.name, p.lines, p.body)
	}
	if c.Installed != "" {
		t.add("Installed", false, "-- "+installed+" --\n")
		t.add("Installed", true, strings.TrimRight(c.Installed, "\n")+"\n")
	}
	for i, a := range c.User {
		if a.Manifests != "" {
			t.add(field(i), false, "-- "+applied(i)+" --\n")
			t.add(field(i), true, strings.TrimRight(a.Manifests, "\n")+"\n")
		}
	}
	f, err := scenarios.Parse(name, []byte(t.String()))
	if err == nil {
		err = f.Check(c.Registry())
	}
	return f, t, t.explain(err)
}

// installed is the name of the section with Case.Installed.
const installed = "installed.yaml"

// install writes the step that installs CRDs and other objects. It makes the paths of CRDs relative to the directory of
// the file with the given name.
func (c *Case) install(name string, t *text) {
	var line strings.Builder
	for _, path := range c.CRDs {
		if from, err := filepath.Rel(filepath.Dir(name), path); err == nil {
			path = from
		}
		line.WriteString(" '" + filepath.ToSlash(path) + "'")
	}
	if c.Installed != "" {
		line.WriteString(" " + installed)
	}
	if line.Len() > 0 {
		t.add("CRDs", false, "install"+line.String()+"\n")
	}
}

func section(i int) string { return fmt.Sprintf("world-%d.yaml", i+1) }

func applied(i int) string { return fmt.Sprintf("user-%d.yaml", i+1) }

func field(i int) string { return fmt.Sprintf("User[%d]", i) }

func (c *Case) script(t *text) {
	switch {
	case c.SettleFirst:
		t.add("Settled", false, "settle quiet"+c.long()+"\n")
	case len(c.User) > 0:
		t.add("User", false, "race\n")
	}
	for i, a := range c.User {
		line := a.Verb
		switch {
		case a.Do != nil:
			line = "do " + a.Name
		case a.Manifests != "":
			line = "apply " + applied(i)
		}
		t.add(field(i), false, line+"\n")
	}
	t.add("Case", false, "settle"+c.long()+"\n")
	if c.Settled != nil {
		t.add("Settled", false, "ensure "+settledCheck+"\n")
	}
	if c.SameEnd {
		t.add("SameEnd", false, "ensure "+law.ByID(law.SameEnd).Name+"\n")
	}
}

func (c *Case) long() string {
	if c.For == 0 {
		return ""
	}
	return " for=" + c.For.String() + " rest"
}

type part struct {
	name, body string
	lines      bool
}

func (c *Case) manifests() ([]part, error) {
	var parts []part
	for i, path := range c.Files {
		read, err := readYAML(fmt.Sprintf("Files[%d]", i), path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, read...)
	}
	parts = append(parts, part{"World", c.World, true})
	objects, err := encode(c.Objects)
	if err != nil {
		return nil, err
	}
	parts = append(parts, part{"Objects", objects, false})
	kept := parts[:0]
	for _, p := range parts {
		if strings.TrimSpace(p.body) != "" {
			p.body = strings.TrimRight(p.body, "\n") + "\n"
			kept = append(kept, p)
		}
	}
	return kept, nil
}

// readYAML reads a file, or all YAML files in a directory in the order of their names.
func readYAML(field, path string) ([]part, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, mistake("%s: %s is not there%s", field, path, near(path))
	}
	paths := []string{path}
	if st.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(path, "*.y*ml")); err != nil || len(paths) == 0 {
			return nil, mistake("%s: the directory %s holds no file *.yaml", field, path)
		}
	}
	var parts []part
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, mistake("%s: %v", field, err)
		}
		parts = append(parts, part{p, string(data), true})
	}
	return parts, nil
}

// near returns a hint for an error about a path that does not exist. It suggests a similar name in the path's
// directory, or returns "". If the directory does not exist either, the hint names the directory to which paths are
// relative.
func near(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		at, _ := os.Getwd()
		return ": paths are relative to the package's directory, " + filepath.Base(at)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if n := nearest.Word(filepath.Base(path), names); n != "" {
		return "; did you mean " + filepath.Join(filepath.Dir(path), n) + "?"
	}
	return ""
}

func encode(objects []runtime.Object) (string, error) {
	server := fakeapi.New(fakeapi.Options{})
	var texts []string
	for i, o := range objects {
		if o == nil {
			return "", mistake("Objects[%d] is nil", i)
		}
		o = o.DeepCopyObject()
		if o.GetObjectKind().GroupVersionKind().Empty() {
			k := server.KindOf(o)
			if k == nil {
				return "", mistake("Objects[%d], a %T, has neither apiVersion nor kind, and is not of a built-in "+
					"type: set its TypeMeta", i, o)
			}
			o.GetObjectKind().SetGroupVersionKind(k.GVK)
		}
		data, err := yaml.Marshal(o)
		if err != nil {
			return "", mistake("Objects[%d]: %v", i, err)
		}
		texts = append(texts, string(data))
	}
	return strings.Join(texts, "---\n"), nil
}
