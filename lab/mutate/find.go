package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

type finder struct {
	pkg   *packages.Package
	file  *ast.File
	src   []byte
	names *names

	next  int // the number of the next mutation
	found []*Mutation
	edits []edit

	funcs []*types.Signature // the functions around the visited node
	name  string             // the name of the outermost function in funcs
}

func (f *finder) find() {
	for _, d := range f.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil || f.forMutants(d) {
				continue
			}
			f.name = funcName(d)
			f.inFunc(f.pkg.TypesInfo.Defs[d.Name].Type().(*types.Signature), d.Body)
			f.name = ""
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				f.visit(d)
			}
		}
	}
}

// funcName returns a function's name with its receiver's type.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			panic(fmt.Sprintf("mutate: a receiver that is a %T", t))
		}
	}
}

func (f *finder) inFunc(s *types.Signature, body *ast.BlockStmt) {
	f.funcs = append(f.funcs, s)
	f.visit(body)
	f.funcs = f.funcs[:len(f.funcs)-1]
}

func (f *finder) visit(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.inFunc(f.pkg.TypesInfo.TypeOf(n).(*types.Signature), n.Body)
			return false
		case *ast.BlockStmt:
			f.statements(n.List)
		case *ast.CaseClause:
			if f.never(n) {
				for _, cond := range n.List {
					f.visit(cond)
				}
				return false
			}
			f.statements(n.Body)
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					for _, cond := range c.(*ast.CaseClause).List {
						f.negate(cond)
					}
				}
			}
			f.valued(n.Init)
		case *ast.IfStmt:
			f.valued(n.Init)
			f.negate(n.Cond)
			if v, ok := f.settled(n.Cond); ok {
				f.branches(n, v)
				return false
			}
		case *ast.ForStmt:
			if n.Cond != nil {
				f.negate(n.Cond)
			}
		case *ast.BinaryExpr:
			f.binary(n)
			if _, ok := f.settled(n); ok {
				return false // the condition is constant, so changed operands have no effect
			}
		case *ast.ReturnStmt:
			f.returns(n)
		case *ast.CompositeLit:
			f.composite(n)
		}
		return true
	})
}

// branches mutates an if statement, except the branch that only handmade mutants run.
func (f *finder) branches(n *ast.IfStmt, then bool) {
	if n.Init != nil {
		f.visit(n.Init)
	}
	f.visit(n.Cond)
	switch {
	case then:
		f.visit(n.Body)
	case n.Else != nil:
		f.visit(n.Else)
	}
}

func (f *finder) add(op Op, n ast.Node, text string) int {
	id := f.next
	f.next++
	p := f.pkg.Fset.Position(n.Pos())
	f.found = append(f.found, &Mutation{ID: id, Func: f.name, Line: p.Line, What: string(op) + " " + text,
		Init: len(f.funcs) == 0})
	return id
}

func (f *finder) text(n ast.Node) string {
	file := f.pkg.Fset.File(n.Pos())
	return strings.Join(strings.Fields(string(f.src[file.Offset(n.Pos()):file.Offset(n.End())])), " ")
}

func (f *finder) wrap(n ast.Node, before, then string, args ...any) {
	f.edits = append(f.edits, edit{from: n.Pos(), to: n.End(), before: fmt.Sprintf(before, args...), then: then})
}

func (f *finder) isBool(e ast.Expr) bool {
	t := f.pkg.TypesInfo.TypeOf(e)
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func (f *finder) negate(cond ast.Expr) {
	if f.isBool(cond) {
		f.wrap(cond, switchesName+".Not(%d, ", ")", f.add(Negate, cond, f.text(cond)))
	}
}

var turned = map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "AtMost", token.GEQ: "Less"}

func (f *finder) binary(n *ast.BinaryExpr) {
	if f.pkg.TypesInfo.Types[n].Value != nil {
		return // constants are not mutated
	}
	switch n.Op {
	case token.LAND, token.LOR:
		if !f.isBool(n.X) || !f.isBool(n.Y) {
			return
		}
		before := "(" + switchesName + ".On(%d) || ("
		if n.Op == token.LOR { // parentheses, because an operand may bind less tightly
			before = "(!" + switchesName + ".On(%d) && ("
		}
		text := f.text(n)
		if !f.idle(n.Op, n.X, n.Y) {
			f.wrap(n.X, before, "))", f.add(DropLeft, n, text))
		}
		if !f.idle(n.Op, n.Y, n.X) {
			f.wrap(n.Y, before, "))", f.add(DropRight, n, text))
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.turn(n)
	}
}

// turn mutates a comparison: < becomes <=, and <= becomes <. It treats a > b as !(a <= b).
func (f *finder) turn(n *ast.BinaryExpr) {
	not := ""
	if n.Op == token.GTR || n.Op == token.GEQ {
		not = "!"
	}
	f.wrap(n, not+switchesName+"."+turned[n.Op]+"(%d, ", ")", f.add(Equal, n, f.text(n)))
	f.edits = append(f.edits, edit{from: n.OpPos, to: n.OpPos + token.Pos(len(n.Op.String())), before: ",", cut: true})
}

// The method returns mutates a return statement: it negates a boolean result, or drops an error.
func (f *finder) returns(n *ast.ReturnStmt) {
	if len(n.Results) == 0 || len(f.funcs) == 0 {
		return
	}
	results := f.funcs[len(f.funcs)-1].Results()
	last := results.At(results.Len() - 1).Type()
	e := n.Results[len(n.Results)-1]
	switch {
	case len(n.Results) == results.Len():
		for i, r := range n.Results {
			if types.Identical(results.At(i).Type(), types.Typ[types.Bool]) && f.isBool(r) {
				f.wrap(r, switchesName+".Not(%d, ", ")", f.add(Negate, r, "return "+f.text(r)))
			}
		}
		if isError(last) && !f.pkg.TypesInfo.Types[e].IsNil() {
			f.wrap(e, switchesName+".Err(%d, ", ")", f.add(NoError, e, "return "+f.text(n.Results[len(n.Results)-1])))
		}
	case isError(last) && results.Len() <= 3:
		if types, ok := f.names.of(results, results.Len()-1); ok {
			f.wrap(e, switchesName+".Err%d["+escape(types)+"](%d)(", ")", results.Len(),
				f.add(NoError, e, "return "+f.text(e)))
		}
	}
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func escape(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// composite mutates a composite literal: it omits a field, an entry or an element.
func (f *finder) composite(n *ast.CompositeLit) {
	if len(n.Elts) == 0 {
		return
	}
	t := f.pkg.TypesInfo.TypeOf(n).Underlying()
	if _, ok := t.(*types.Slice); ok {
		f.list(n)
		return
	}
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if c, ok := kv.Value.(*ast.CompositeLit); ok && c.Type == nil {
			continue // an element without a written type cannot be a function argument
		}
		var of types.Type
		switch t := t.(type) {
		case *types.Struct:
			of = f.pkg.TypesInfo.ObjectOf(kv.Key.(*ast.Ident)).Type()
		case *types.Map:
			of = t.Elem()
		default:
			continue
		}
		if isGuards(of) {
			continue // it is a Without type of handmade mutants, whose package must not be imported
		}
		if name, ok := f.names.name(of); ok {
			f.wrap(kv.Value, switchesName+".Elem["+escape(name)+"](%d, ", ")", f.add(Without, kv, f.text(kv)))
		}
	}
}

func (f *finder) list(n *ast.CompositeLit) {
	keyed := func(e ast.Expr) bool {
		_, is := e.(*ast.KeyValueExpr)
		return is
	}
	if n.Type == nil || slices.ContainsFunc(n.Elts, keyed) {
		return
	}
	first := f.next
	for _, e := range n.Elts {
		f.add(Without, e, f.text(e))
	}
	f.wrap(n, switchesName+".Slice(%d, ", ")", first)
}
