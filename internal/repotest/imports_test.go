package repotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

type pkg struct {
	ImportPath string
	Standard   bool
	DepOnly    bool
	Imports    []string
}

func TestImports(t *testing.T) {
	graph := listPackages(t)
	for _, complaint := range forbidden(graph) {
		t.Error(complaint)
	}
	for _, r := range edges {
		if !slices.ContainsFunc(graph, func(p pkg) bool { return !p.DepOnly && matches(r.pkg, p.ImportPath) }) {
			t.Errorf("the table has a row for %s, but there is no such package; remove it", r.pkg)
		}
	}
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,DepOnly,Imports", "./...")
	list.Dir = root
	out, err := list.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	var graph []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return graph
		} else if err != nil {
			t.Fatal(err)
		}
		graph = append(graph, p)
	}
}

// forbidden returns a complaint for each forbidden import, and for each reachable package in walls.
func forbidden(graph []pkg) (complaints []string) {
	byPath := map[string]pkg{}
	for _, p := range graph {
		byPath[p.ImportPath] = p
	}
	for _, p := range graph {
		if p.DepOnly {
			continue
		}
		i := slices.IndexFunc(edges, func(r edge) bool { return matches(r.pkg, p.ImportPath) })
		if i < 0 {
			complaints =
				append(complaints,
					fmt.Sprintf("%s has no row in the import table; add one that says what it may import, and why",
						short(p.ImportPath)))
			continue
		}
		for _, to := range p.Imports {
			if !covers(edges[i].may, to) && !byPath[to].Standard {
				complaints =
					append(complaints, fmt.Sprintf("%s imports %s: %s", short(p.ImportPath), short(to), edges[i].why))
			}
		}
		complaints = append(complaints, violations(p, byPath)...)
	}
	return complaints
}

// violations returns a complaint, with the import path, for each package in walls that a package reaches.
func violations(p pkg, byPath map[string]pkg) (complaints []string) {
	via := map[string]string{p.ImportPath: ""}
	queue := []string{p.ImportPath}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, w := range walls {
			if at != p.ImportPath && matches(w.from, p.ImportPath) && covers(w.to, at) && !covers(w.except, at) {
				complaints =
					append(complaints,
						fmt.Sprintf("%s reaches %s (%s): %s", short(p.ImportPath), short(at), trail(via, at), w.why))
			}
		}
		if byPath[at].Standard {
			continue // imports between packages of the standard library are not checked
		}
		for _, to := range byPath[at].Imports {
			if _, seen := via[to]; !seen {
				via[to] = at
				queue = append(queue, to)
			}
		}
	}
	return complaints
}

func trail(via map[string]string, at string) string {
	s := short(at)
	for at = via[at]; at != ""; at = via[at] {
		s = short(at) + " -> " + s
	}
	return s
}

func covers(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, p) })
}

func matches(pattern, importPath string) bool {
	local := importPath == module || strings.HasPrefix(importPath, module+"/")
	if pattern == "..." {
		return local
	}
	p := short(importPath)
	if local {
		if below, ok := strings.CutSuffix(pattern, "/..."); ok {
			return p == below || strings.HasPrefix(p, below+"/")
		}
		return p == path.Clean(pattern)
	}
	return p == pattern || strings.HasPrefix(p, pattern+"/")
}
