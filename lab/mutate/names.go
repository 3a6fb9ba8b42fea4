package mutate

import (
	"fmt"
	"go/types"
	"strings"
)

// switchesName is what the package of the switches is called in a mutated file.
const switchesName = "mutate_"

// names names types in one file, by imports of their own, so that nothing that the
// file declares is in the way.
type names struct {
	pkg     *types.Package
	imports []string // paths
	at      map[string]int
}

// name is the name of a type; false where a file of the package cannot name it.
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
	// A name that is not exported belongs to its own package.
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

// of names the first n types of a tuple.
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

// clause is the import clauses of a mutated file, in one line.
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
