package house

import (
	"fmt"
	"go/ast"
	"go/types"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// topFuncs yields the names of a file's functions.
func topFuncs(f *ast.File) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && !yield(fn.Name.Name) {
				return
			}
		}
	}
}

// table is the rows of the first table in a text whose head begins with a word,
// each cut into cells.
func table(t *testing.T, text, head string) (rows [][]string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| "+head+" |") })
	if at < 0 {
		t.Fatalf("no table that begins with %s", head)
	}
	for _, l := range lines[at+2:] {
		if !strings.HasPrefix(l, "|") {
			break
		}
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

var code = regexp.MustCompile("`([^`]+)`")

// codes are the words that a text shows as code.
func codes(text string) (out []string) {
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// sameWords complains of what stands in one list only.
func sameWords(t *testing.T, where string, told, is []string) {
	t.Helper()
	for _, w := range told {
		if !slices.Contains(is, w) {
			t.Errorf("%s names %s, which is not there", where, w)
		}
	}
	for _, w := range is {
		if !slices.Contains(told, w) {
			t.Errorf("%s does not name %s", where, w)
		}
	}
}

// The classes of steps, in their order.
func TestTableOfSteps(t *testing.T) {
	var told []string
	for _, row := range table(t, read(t, "docs/design.md"), "class") {
		told = append(told, codes(row[0])...)
	}
	var is []string
	for c := sim.Respond; c <= sim.Fault; c++ {
		is = append(is, c.String())
	}
	if !slices.Equal(told, is) {
		t.Errorf("docs/design.md has the classes %v, the kernel %v", told, is)
	}
}

// The faults that a budget can hold, and the verbs that strike by name.
func TestTableOfFaults(t *testing.T) {
	var budget []string
	for _, row := range table(t, read(t, "docs/design.md"), "fault") {
		if !strings.HasPrefix(row[2], "(") {
			budget = append(budget, codes(row[2])...)
		}
		for _, v := range codes(row[1]) {
			name, _, _ := strings.Cut(v, " ")
			if scenarios.FindVerb(name) == nil {
				t.Errorf("docs/design.md: there is no verb %s", name)
			}
		}
	}
	sameWords(t, "docs/design.md, the table of faults,", budget, host.FaultNames)
}

// The verbs of scenario files.
func TestTableOfVerbs(t *testing.T) {
	var told, is []string
	for _, row := range table(t, read(t, "docs/scenarios.md"), "about") {
		told = append(told, codes(row[1])...)
	}
	for _, v := range scenarios.Verbs() {
		is = append(is, v.Name)
	}
	sameWords(t, "docs/scenarios.md, the table of verbs,", told, is)
}

var exitCode = regexp.MustCompile(`(?m)^  (\d+) +(.+)$`)

// Exit codes stand in two pages as they do in the help.
func TestTablesOfExitCodes(t *testing.T) {
	var is [][]string
	for _, m := range exitCode.FindAllStringSubmatch(read(t, "cli/exit.go"), -1) {
		is = append(is, m[1:])
	}
	if len(is) < 6 {
		t.Fatalf("cli/exit.go has %d exit codes", len(is))
	}
	for _, p := range []string{"README.md", "docs/scenarios.md"} {
		if told := table(t, read(t, p), "exit code"); fmt.Sprint(told) != fmt.Sprint(is) {
			t.Errorf("%s has the exit codes\n%v\nthe help\n%v", p, told, is)
		}
	}
}

// The README's picture of the tree names every public directory, and none that is
// not there.
func TestTableOfDirectories(t *testing.T) {
	var told []string
	for _, row := range table(t, read(t, "README.md"), "directory") {
		told = append(told, codes(row[0])...)
	}
	all := files(t)
	for _, dir := range told {
		if !slices.ContainsFunc(all, func(f string) bool { return strings.HasPrefix(f, dir+"/") }) {
			t.Errorf("README.md: there is no directory %s", dir)
		}
	}
	for _, p := range shipped(tree(t)) {
		dir := short(p.PkgPath)
		if dir == "." || !public(p) || len(p.Syntax) == 0 {
			continue
		}
		if top, _, _ := strings.Cut(dir, "/"); !slices.Contains(told, dir) &&
			!(top == "controllers" && slices.Contains(told, top)) {
			t.Errorf("README.md does not name the directory %s", dir)
		}
	}
}

// What a package declares it uses: a row that no table has is not there, and the
// compiler does not mind.
func TestEveryVariableIsUsed(t *testing.T) {
	for _, p := range shipped(tree(t)) {
		used := map[types.Object]bool{}
		for _, o := range p.TypesInfo.Uses {
			used[o] = true
		}
		for _, name := range p.Types.Scope().Names() {
			if v, ok := p.Types.Scope().Lookup(name).(*types.Var); ok && !v.Exported() && !used[v] {
				t.Errorf("%s: nothing uses %s; is its line in a table missing?", p.Fset.Position(v.Pos()), name)
			}
		}
	}
}
