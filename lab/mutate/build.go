package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Sources is a set of files with all mutations.
type Sources struct {
	Mutations []*Mutation
	files     map[string][]byte // the mutated text of each file, by absolute name
}

// Load finds the mutations of packages. root is the directory of the module. The go command interprets patterns.
func Load(root string, patterns ...string) (*Sources, error) {
	pkgs, err := packages.Load(&packages.Config{Dir: root, Mode: packages.NeedName | packages.NeedFiles |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports |
		packages.NeedExportFile}, patterns...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	p := &Sources{files: map[string][]byte{}}
	for _, pkg := range pkgs {
		if len(pkg.Errors) > 0 {
			return nil, fmt.Errorf("%s: %v", pkg.PkgPath, pkg.Errors[0])
		}
		for i, file := range pkg.Syntax {
			if err := p.add(root, pkg, file, pkg.GoFiles[i]); err != nil {
				return nil, err
			}
		}
	}
	p.number()
	return p, nil
}

func (p *Sources) add(root string, pkg *packages.Package, file *ast.File, name string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f := &finder{pkg: pkg, file: file, src: src, next: len(p.Mutations) + 1,
		names: &names{pkg: pkg.Types, at: map[string]int{}}}
	f.find()
	if len(f.found) == 0 {
		return nil
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	for _, m := range f.found {
		m.File, m.Package = filepath.ToSlash(rel), filepath.ToSlash(filepath.Dir(rel))
	}
	p.Mutations = append(p.Mutations, f.found...)
	at := file.Name.End()
	p.files[name] = apply(src, pkg.Fset.File(file.Pos()), append(f.edits,
		edit{from: at, to: at, before: f.names.clause(), cut: true}))
	return nil
}

// number distinguishes mutations with the same text in the same function.
func (p *Sources) number() {
	seen := map[string]int{}
	for _, m := range p.Mutations {
		key := m.File + " " + m.Func + " " + m.What
		if seen[key]++; seen[key] > 1 {
			m.What += fmt.Sprintf(" #%d", seen[key])
		}
	}
}

// apply returns src with the edits. In the list, an edit comes before the edits inside it. Line numbers do not change.
func apply(src []byte, file *token.File, edits []edit) []byte {
	type insert struct {
		at   int
		rank int // order at one offset: ends before beginnings, inner ends before outer ends
		text string
		skip int
	}
	var all []insert
	for i, e := range edits {
		from, to := file.Offset(e.from), file.Offset(e.to)
		if e.cut {
			all = append(all, insert{from, 0, e.before, to - from})
			continue
		}
		all = append(all, insert{from, i + 1, e.before, 0}, insert{to, -i - 1, e.then, 0})
	}
	slices.SortStableFunc(all, func(a, b insert) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.rank - b.rank
	})
	var out bytes.Buffer
	last := 0
	for _, in := range all {
		out.Write(src[last:in.at])
		out.WriteString(in.text)
		last = in.at + in.skip
	}
	out.Write(src[last:])
	return out.Bytes()
}

type Mutation struct {
	ID      int    // from 1, in the order of packages, files and places
	Package string // path in the module: "controllers/internal/ref"
	File    string // path in the module
	Func    string // "Manager.Claim", "Claim"; "" outside of functions
	Line    int
	What    string // the operator and what it changes: "negate err != nil"
	Init    bool   // the mutated code runs when its package is initialized
}

func (m *Mutation) String() string {
	return fmt.Sprintf("%s:%d %s: %s", m.File, m.Line, m.Func, m.What)
}

type Op string

const (
	Negate    Op = "negate"     // negate a condition, or a returned boolean
	DropLeft  Op = "drop left"  // replace a && b, or a || b, by b
	DropRight Op = "drop right" // replace a && b, or a || b, by a
	Equal     Op = "equal"      // replace < by <=, <= by <, > by >=, or >= by >
	Drop      Op = "drop"       // drop a statement: a call, a defer, an assignment, ++ or --
	Nothing   Op = "nothing"    // omit a call, and use zero values as its results
	NoError   Op = "no error"   // return nil instead of an error
	Without   Op = "without"    // omit an element of a composite literal
)

// edit inserts text before and after a part of a file, or replaces the part.
type edit struct {
	from, to     token.Pos
	before, then string
	cut          bool // remove the text between from and to
}

const switchesName = "mutate_"

// names provides names for the types in a file. It adds imports under names that the file does not declare.
type names struct {
	pkg     *types.Package
	imports []string // the paths of the added imports
	at      map[string]int
}

// name returns a type's name; false if the package cannot name it.
func (n *names) name(t types.Type) (string, bool) {
	reachable := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == n.pkg {
			return ""
		}
		if strings.Contains(p.Path(), "/internal/") && !strings.HasPrefix(p.Path(), module) {
			reachable = false
		}
		i, known := n.at[p.Path()]
		if !known {
			i = len(n.imports)
			n.imports = append(n.imports, p.Path())
			n.at[p.Path()] = i
		}
		return fmt.Sprintf("mutate_%d", i)
	})
	// An unexported name of another package cannot be used.
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("[]*(){}, ", r) }) {
		if p, id, qualified := strings.Cut(part, "."); qualified && strings.HasPrefix(p, "mutate_") &&
			!(id[0] >= 'A' && id[0] <= 'Z') {
			reachable = false
		}
	}
	if b, is := t.(*types.Basic); is && (b.Kind() == types.UntypedNil || b.Kind() == types.Invalid) {
		reachable = false
	}
	return name, reachable
}

func (n *names) of(t *types.Tuple, count int) (string, bool) {
	var list []string
	for i := range count {
		name, ok := n.name(types.Default(t.At(i).Type()))
		if !ok {
			return "", false
		}
		list = append(list, name)
	}
	return strings.Join(list, ", "), true
}

// clause returns the additional import clauses, in one line.
func (n *names) clause() string {
	var b strings.Builder
	fmt.Fprintf(&b, "; import %s %q", switchesName, switchesPath)
	for i, path := range n.imports {
		fmt.Fprintf(&b, "; import mutate_%d %q", i, path)
	}
	return b.String()
}

const (
	module       = "github.com/threelaws/threelaws/"
	switchesPath = module + "lab/mutate/switches"
)

// Build compiles programs that contain all mutations.
type Build struct {
	root, dir string
	replace   map[string]string // the replacement of each file, by absolute name
}

// Overlay writes the mutated files to a directory, for go build -overlay.
func (p *Sources) Overlay(root, dir string) (*Build, error) {
	b := &Build{root: root, dir: dir, replace: map[string]string{
		filepath.Join(root, "lab", "go.mod"): "", // removed, so that package switches belongs to the mutated module
	}}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if err := b.put(name, p.files[name]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *Build) put(name string, src []byte) error {
	to := filepath.Join(b.dir, fmt.Sprintf("%03d_%s", len(b.replace), filepath.Base(name)))
	b.replace[name] = to
	return os.WriteFile(to, src, 0o644)
}

func (b *Build) Command(pkg string) (string, error) {
	out := filepath.Join(b.dir, filepath.Base(pkg))
	return out, b.goTool("build", "-o", out, pkg)
}

// test builds the tests of a package with an additional file. That file gets the package name of the parameter file.
func (b *Build) test(pkg, file string) (string, error) {
	dir := filepath.Join(b.root, pkg)
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	src := fmt.Appendf(nil, mainOfTests, f.Name.Name, switchesPath)
	if err := b.put(filepath.Join(dir, mainFile), src); err != nil {
		return "", err
	}
	out := filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
	return out, b.goTool("test", "-c", "-o", out, dir)
}

func (b *Build) goTool(command string, args ...string) error {
	raw, err := json.Marshal(map[string]any{"Replace": b.replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o644); err != nil {
		return err
	}
	c := exec.Command("go", append([]string{command, "-overlay", overlay}, args...)...)
	if c.Dir = b.root; command == "test" {
		c.Args = slices.Insert(c.Args, 2, "-vet=off")
		c.Dir = args[len(args)-1] // run in the test's own module, which has the packages that the test imports
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s %v: %w\n%s", command, args, err, out)
	}
	return nil
}
