package detcheck

import (
	"go/ast"
	"go/token"
	"strings"
)

const prefix = "//detcheck:"

// directive is one //detcheck:ordered comment.
type directive struct {
	pos      token.Pos
	trailing bool // code stands in front of it: it is about its own line
	used     bool
}

type lineOf struct {
	file string
	line int
}

func (c *checker) readDirectives(f *ast.File) {
	code := map[int]bool{} // lines on which something other than a comment begins
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.CommentGroup, *ast.Comment:
			return false
		}
		code[c.line(n.Pos())] = true
		return true
	})
	for _, group := range f.Comments {
		for _, com := range group.List {
			text, ok := strings.CutPrefix(com.Text, prefix)
			if !ok {
				continue
			}
			text, _, _ = strings.Cut(text, "//")
			verb, reason, _ := strings.Cut(text, " ")
			p := c.Fset.Position(com.Pos())
			d := &directive{pos: com.Pos(), trailing: code[p.Line]}
			switch {
			case verb != "ordered":
				c.Reportf(com.Pos(), "unknown directive detcheck:%s; the only one is //detcheck:ordered <reason>", verb)
			case strings.TrimSpace(reason) == "":
				c.Reportf(com.Pos(),
					"directive without a reason; say why the order cannot matter: //detcheck:ordered <reason>")
				d.used = true // one complaint is enough
				c.directives[lineOf{p.Filename, p.Line}] = d
			default:
				c.directives[lineOf{p.Filename, p.Line}] = d
			}
		}
	}
}

// excused reports whether a directive stands on the line above one of the
// positions, or at the end of its line, and marks it used.
func (c *checker) excused(at ...token.Pos) bool {
	for _, pos := range at {
		p := c.Fset.Position(pos)
		for _, above := range []int{0, 1} {
			if d := c.directives[lineOf{p.Filename, p.Line - above}]; d != nil && d.trailing == (above == 0) {
				d.used = true
				return true
			}
		}
	}
	return false
}

func (c *checker) reportUnused() {
	for _, d := range c.directives {
		if !d.used {
			c.Reportf(d.pos,
				"directive excuses nothing: no map is visited here; remove it")
		}
	}
}
