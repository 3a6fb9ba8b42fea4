// Command sample prints random sentences of the docs and comments of the code, for a reader to judge.
//
//	go run -C lab ./cmd/sample -seed 7 -n 60
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	seed := flag.Uint64("seed", 1, "which sample to draw")
	n := flag.Int("n", 60, "how many sentences and how many comments to draw")
	flag.Parse()
	if err := sample(os.Stdout, "..", *seed, *n); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

func sample(w io.Writer, root string, seed uint64, n int) error {
	var sentences, comments []string
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(file), root+"/")
		page := name == "README.md" || strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md")
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || name != root && strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case !page && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go")):
			return nil
		}
		text, err := os.ReadFile(file)
		if page {
			sentences = append(sentences, ofPage(name, string(text))...)
		} else {
			comments = append(comments, ofCode(name, string(text))...)
		}
		return err
	})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	fmt.Fprintf(w, "seed %d\n", seed)
	for _, all := range [][]string{sentences, comments} {
		fmt.Fprintln(w)
		for i, k := range random.Perm(len(all))[:min(n, len(all))] {
			fmt.Fprintf(w, "%d. %s\n", i+1, all[k])
		}
	}
	return nil
}

var item = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
var endOf = regexp.MustCompile(`([.!?:][)*"\]]*) ([*("\[` + "`" + `]*\p{Lu})`)

// ofPage returns the sentences of a page without code blocks, headings and tables.
func ofPage(name, text string) (out []string) {
	fence, start, paragraph := false, 0, ""
	flush := func() {
		for _, s := range strings.Split(endOf.ReplaceAllString(paragraph, "$1\n$2"), "\n") {
			if strings.Contains(s, " ") {
				out = append(out, fmt.Sprintf("%s:%d: %s", name, start, s))
			}
		}
		paragraph = ""
	}
	for i, l := range append(strings.Split(text, "\n"), "") {
		prose := strings.TrimSpace(l)
		if strings.HasPrefix(prose, "```") {
			fence = !fence
		}
		other := fence || prose == "" || strings.ContainsAny(prose[:1], "|#<") || strings.HasPrefix(prose, "```")
		if other || item.MatchString(l) {
			flush()
		}
		if paragraph == "" {
			start = i + 1
		}
		if !other {
			paragraph = strings.TrimSpace(paragraph + " " + item.ReplaceAllString(prose, ""))
		}
	}
	return out
}

// ofCode returns the comments of a Go file, each with the code of its line, or of the line below it.
func ofCode(name, text string) (out []string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil
	}
	lines := strings.Split(text, "\n")
	for _, g := range f.Comments {
		at, end := fset.Position(g.Pos()), fset.Position(g.End())
		code := strings.TrimSpace(lines[at.Line-1][:at.Column-1])
		if code == "" {
			code = strings.TrimSpace(lines[min(end.Line, len(lines)-1)])
		}
		if text := strings.TrimSpace(g.Text()); text != "" { // the text of a directive, such as //go:embed, is empty
			out = append(out, fmt.Sprintf("%s:%d: %s\n\t%s", name, at.Line, text, code))
		}
	}
	return out
}
