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

// mostInKnot is how many files of a package may use each other in a cycle. More cannot be read in any order.
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

// arrows says which files use names that other files declare.
type arrows map[string][]string

// uses returns the arrows of a package. A field is no arrow, because its type is one already.
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

// declares reports whether an object is a name of the package or a method.
func declares(o types.Object) bool {
	if _, isFunc := o.(*types.Func); isFunc {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// knots are the sets of files that use each other, directly or through others, the largest first.
func knots(a arrows) (out [][]string) {
	reach := map[string]map[string]bool{}
	var follow func(from, at string)
	follow = func(from, at string) {
		for _, to := range a[at] {
			if !reach[from][to] {
				reach[from][to] = true
				follow(from, to)
			}
		}
	}
	for from := range a {
		reach[from] = map[string]bool{}
		follow(from, from)
	}
	seen := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(a)) {
		var k []string
		for _, other := range slices.Sorted(maps.Keys(reach[file])) {
			if reach[other][file] && !seen[other] {
				k, seen[other] = append(k, other), true
			}
		}
		if len(k) > 1 {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(x, y []string) int { return len(y) - len(x) })
	return out
}

func short(p string) string {
	if p == module {
		return "."
	}
	return strings.TrimPrefix(p, module+"/")
}
