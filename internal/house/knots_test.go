package house

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// mostInKnot is how many files of a package may use each other in a circle: as
// many as one can still hold in mind. What is larger cannot be read in any order.
const mostInKnot = 12

func TestNoLargeKnots(t *testing.T) {
	for _, p := range tree(t) {
		for _, k := range knots(uses(p)) {
			if len(k) > mostInKnot {
				t.Errorf("%s: %d files use each other in a circle, more than %d; move what the others use "+
					"into a package or a lower file: %s", short(p.PkgPath), len(k), mostInKnot,
					strings.Join(k, " "))
			}
		}
	}
}

// arrows are which files use names that which other files declare.
type arrows map[string][]string

// uses draws an arrow from each file of a package to each other one that declares
// a function, method, type, constant or variable it names. Fields do not count:
// who holds a value of a type uses the type already.
func uses(p *packages.Package) arrows {
	out := arrows{}
	for _, f := range p.Syntax {
		from := filepath.Base(p.Fset.Position(f.Package).Filename)
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := p.TypesInfo.Uses[id]
			if o == nil || o.Pkg() != p.Types || !declares(o) {
				return true
			}
			to := filepath.Base(p.Fset.Position(o.Pos()).Filename)
			if to != from && !slices.Contains(out[from], to) {
				out[from] = append(out[from], to)
			}
			return true
		})
	}
	return out
}

// declares reports whether an object is declared by a file rather than inside a
// function: a name of the package, or a method.
func declares(o types.Object) bool {
	if _, isFunc := o.(*types.Func); isFunc {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// knots are the sets of more than one file that lie on one circle (the strongly
// connected components, by Tarjan), the largest first.
func knots(a arrows) (out [][]string) {
	index, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, on[v] = append(stack, v), true
		for _, w := range a[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		k := slices.Sorted(slices.Values(stack[at:]))
		stack = stack[:at]
		for _, w := range k {
			on[w] = false
		}
		if len(k) > 1 {
			out = append(out, k)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(a)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	slices.SortStableFunc(out, func(x, y []string) int { return len(y) - len(x) })
	return out
}

// short is a package's path from the module's root.
func short(p string) string {
	if p == module {
		return "."
	}
	return strings.TrimPrefix(p, module+"/")
}
