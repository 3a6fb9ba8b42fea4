// Package rule is the part of the language of validation rules
// (x-kubernetes-validations) that can be read without the real one, CEL: paths,
// literals, operators, the macros over lists and a few functions. What it does not
// know it refuses by name.
package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/scanner"
)

// Rule is a parsed rule of a schema.
type Rule struct {
	value   expr
	UsesOld bool // it asks for the value before
}

// Holds evaluates a rule on a value and the value before.
func (r Rule) Holds(now, was any) (bool, error) {
	value, err := r.value(&scope{now: now, was: was})
	if err != nil {
		return false, err
	}
	ok, is := value.(bool)
	if !is {
		return false, errOverload
	}
	return ok, nil
}

// Parse reads the part of the Common Expression Language that is modelled:
// self and oldSelf, their fields and elements; true, false, null, numbers,
// strings and lists; ! - + * == != < <= > >= in && || ?: and parentheses;
// has, size, startsWith, endsWith, contains, matches, all, exists. The error
// names what is not.
func Parse(text string) (r Rule, err error) {
	p := &parser{names: []string{"self", "oldSelf"}}
	p.in.Init(strings.NewReader(text))
	p.in.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats
	p.in.Error = func(*scanner.Scanner, string) {}
	defer func() {
		if found := recover(); found != nil {
			bad, ok := found.(badRule)
			if !ok {
				panic(found)
			}
			err = bad
		}
	}()
	p.next()
	r.value = p.ternary()
	if p.tok != scanner.EOF {
		p.fail("%q", p.text)
	}
	r.UsesOld = p.usesOld
	return r, nil
}

type badRule struct{ what string }

func (b badRule) Error() string { return b.what + " in a rule" }

type parser struct {
	in      scanner.Scanner
	tok     rune
	text    string
	names   []string // variables in sight
	usesOld bool
}

func (p *parser) fail(format string, args ...any) { panic(badRule{fmt.Sprintf(format, args...)}) }

// next reads a token; operators of two characters are one token.
func (p *parser) next() {
	p.tok = p.in.Scan()
	p.text = p.in.TokenText()
	if p.tok == '\'' || p.tok == '"' {
		p.quoted(p.tok)
		return
	}
	if after := p.in.Peek(); strings.ContainsRune("=!<>", p.tok) && after == '=' || (p.tok == '&' || p.tok == '|') &&
		after == p.tok {
		p.in.Next()
		p.text += string(after)
	}
}

// quoted reads a string without escapes.
func (p *parser) quoted(quote rune) {
	var b strings.Builder
	for {
		switch c := p.in.Next(); c {
		case quote:
			p.tok, p.text = scanner.String, b.String()
			return
		case scanner.EOF, '\\', '\n':
			p.fail("an escape or an open end of a string")
		default:
			b.WriteRune(c)
		}
	}
}

func (p *parser) is(text string) bool { return p.tok != scanner.String && p.text == text }

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) need(text string) {
	if !p.accept(text) {
		p.fail("%q where %q should be", p.text, text)
	}
}

func (p *parser) ternary() expr {
	condition := p.binary(0)
	if !p.accept("?") {
		return condition
	}
	yes := p.ternary()
	p.need(":")
	return choose(condition, yes, p.ternary())
}

// levels are the operators from the weakest to the strongest.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!=", "<", "<=", ">", ">=", "in"}, {"+", "-"}, {"*"}}

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for p.tok != scanner.String && slices.Contains(levels[level], p.text) {
		op := p.text
		p.next()
		left = combine(op, left, p.binary(level+1))
	}
	return left
}

func (p *parser) unary() expr {
	switch {
	case p.accept("!"):
		return negate(p.unary())
	case p.accept("-"):
		return combine("-", constant(int64(0)), p.unary())
	}
	return p.member(p.primary())
}

// member reads what follows a value: fields, elements and methods.
func (p *parser) member(value expr) expr {
	for {
		switch {
		case p.accept("."):
			name := p.text
			if p.tok != scanner.Ident {
				p.fail("%q after a dot", name)
			}
			p.next()
			if p.accept("(") {
				value = p.method(value, name)
			} else {
				value = fieldOf(value, name)
			}
		case p.accept("["):
			index := p.ternary()
			p.need("]")
			value = elementOf(value, index)
		default:
			return value
		}
	}
}

func (p *parser) method(value expr, name string) expr {
	switch name {
	case "all", "exists":
		variable := p.text
		if p.tok != scanner.Ident {
			p.fail("%q as a variable", variable)
		}
		p.next()
		p.need(",")
		p.names = append(p.names, variable)
		body := p.ternary()
		p.names = p.names[:len(p.names)-1]
		p.need(")")
		return every(value, variable, body, name == "all")
	case "size":
		p.need(")")
		return sizeOf(value)
	case "startsWith", "endsWith", "contains", "matches":
		argument := p.ternary()
		p.need(")")
		return textTest(name, value, argument)
	}
	p.fail("the function %s", name)
	return nil
}

func (p *parser) primary() expr {
	tok, text := p.tok, p.text
	p.next()
	switch tok {
	case scanner.String:
		return constant(text)
	case scanner.Int:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return constant(n)
		}
	case scanner.Float:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return constant(f)
		}
	case '(':
		value := p.ternary()
		p.need(")")
		return value
	case '[':
		var items []expr
		for !p.accept("]") {
			if len(items) > 0 {
				p.need(",")
			}
			items = append(items, p.ternary())
		}
		return listOf(items)
	case scanner.Ident:
		return p.name(text)
	}
	p.fail("%q", text)
	return nil
}

func (p *parser) name(text string) expr {
	switch text {
	case "true", "false":
		return constant(text == "true")
	case "null":
		return constant(nil)
	case "has":
		p.need("(")
		value := p.ternary()
		p.need(")")
		return has(value)
	case "size":
		p.need("(")
		value := p.ternary()
		p.need(")")
		return sizeOf(value)
	}
	if !slices.Contains(p.names, text) {
		p.fail("the name %s", text)
	}
	p.usesOld = p.usesOld || text == "oldSelf"
	return variable(text)
}
