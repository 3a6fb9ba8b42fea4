package repotest

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// The maximal mean and the maximal length of the sentences on a page, in words.
const (
	longestMean     = 18
	longestSentence = 35
)

// sentence is a part of a page or of a Go file, without code and link targets.
type sentence struct {
	file string // "" for a part of the current page
	line int
	text string
}

// words returns the number of fields with a letter or a digit.
func (s sentence) words() (n int) {
	for f := range strings.FieldsSeq(s.text) {
		if letter.MatchString(f) {
			n++
		}
	}
	return n
}

var (
	letter     = regexp.MustCompile(`[\pL\pN]`)
	item       = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
	ends       = regexp.MustCompile(`[.!?:][)*"\]]*$`)
	begins     = regexp.MustCompile(`^[*("\[]*\p{Lu}`)
	name       = regexp.MustCompile(`\b\pL+(?:-[\pL\pN]+)+\b`) // the name of a file, law or mutant
)

// blocks returns the prose of a page as paragraphs, list items, headings and table rows, each with its first line
// number. It leaves out code fences and comments.
func blocks(text string) (out []sentence) {
	text = comment.ReplaceAllStringFunc(text, func(c string) string { return strings.Repeat("\n", strings.Count(c, "\n")) })
	fence, open := false, false
	for i, l := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(l)
		single := strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "#")
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fence, open = !fence, false
		case fence || trimmed == "":
			open = false
		case !open || single || item.MatchString(l):
			out = append(out, sentence{"", i + 1, strings.TrimSpace(item.ReplaceAllString(l, ""))})
			open = !single
		default:
			out[len(out)-1].text += " " + trimmed
		}
	}
	for i := range out {
		out[i].text = inlineCode.ReplaceAllString(linkTarget.ReplaceAllString(out[i].text, "]"), "Code")
	}
	return out
}

// sentences returns the sentences of a page without headings and tables.
func sentences(text string) (out []sentence) {
	for _, b := range blocks(text) {
		if strings.HasPrefix(b.text, "|") || strings.HasPrefix(b.text, "#") {
			continue
		}
		fields, start := strings.Fields(b.text), 0
		for i, f := range fields {
			if i == len(fields)-1 || ends.MatchString(f) && begins.MatchString(fields[i+1]) {
				if s := (sentence{"", b.line, strings.Join(fields[start:i+1], " ")}); s.words() > 1 {
					out = append(out, s)
				}
				start = i + 1
			}
		}
	}
	return out
}

func lengths(p page) (out []string) {
	all, total := sentences(p.text), 0
	for _, s := range all {
		n := s.words()
		total += n
		if n > longestSentence && !excepted(p, s.line) {
			out = append(out, fmt.Sprintf("%s:%d: a sentence of %d words, at most %d: cut it in two: %s",
				p.name, s.line, n, longestSentence, s.text))
		}
	}
	if total > longestMean*len(all) {
		out = append(out, fmt.Sprintf("%s: %.1f words a sentence, at most %d: one fact, one sentence",
			p.name, float64(total)/float64(len(all)), longestMean))
	}
	return out
}

// reasoned matches a comment that excepts the next block of a page: <!-- words: the reason -->.
var reasoned = regexp.MustCompile(`<!-- words: \S.* -->`)

func excepted(p page, line int) bool {
	lines := strings.Split(p.text, "\n")
	return line > 1 && reasoned.MatchString(lines[line-2])
}

func prose(t *testing.T) (out []page) {
	for _, p := range pages(t) {
		if strings.HasPrefix(p.name, "docs/") || slices.Contains([]string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}, p.name) {
			out = append(out, p)
		}
	}
	return out
}

func TestSentencesAreShort(t *testing.T) {
	for _, p := range prose(t) {
		for _, wrong := range lengths(p) {
			t.Error(wrong)
		}
	}
	long := strings.Repeat("word ", longestSentence+1) + "end.\n"
	for _, c := range []struct {
		name, text string
		wrong      int
	}{
		{"a long sentence", "Short one. " + long + "\nShort two. Short three.\n", 1},
		{"a long mean", strings.Repeat(strings.Repeat("Word ", longestMean+1)+"end. ", 3), 1},
		{"a long sentence with a reason", "Short one.\n\n<!-- words: quoted -->\n" + long + "\nShort two. Short three.\n", 0},
		{"code, a table and a heading", "# " + long + "\n```\n" + long + "```\n\n| " + long + "\nSee `" + long + "` there.\n", 0},
	} {
		if got := lengths(page{"x.md", c.text}); len(got) != c.wrong {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// term is a phrase that texts must not contain, and its replacement. The phrases do not match correct uses of their
// words: for example, "definition" and "generation" are terms of Kubernetes.
type term struct {
	not   *regexp.Regexp
	write string
}

func terms(rows ...string) (out []term) {
	for i := 0; i < len(rows); i += 2 {
		out = append(out, term{regexp.MustCompile(`(?i)\b(?:` + rows[i] + `)\b`), rows[i+1]})
	}
	return out
}

var plain = terms(
	`(?:is|are|was|were|been|be|has) (?:told|heard)`, "is printed, is reported, has seen",
	`such an? one`, "name the thing again",
	`none but|nothing but|nobody but|no other than`, "only",
	`accus(?:e|es|ed|ing|ation|ations)|guilty|culprits?|acquit\w*|convict(?:s|ed|ing)?`, "report, violation, false positive",
	`by office`, "system component",
	`h(?:e|is|im)`, "it, they, you",
	`anew`, "again",
	`in vain`, "without effect",
	`mend(?:s|ed|ing)?`, "fix",
	`as yet`, "still, yet",
	`at the least`, "at least",
	`fails? so:`, "fails like this:",
	`the wire`, "the HTTP API",
	`(?:the|a) collector(?:'s)?`, "the garbage collector",
	`made small(?:er)?`, "minimized, shrunk",
	`at rest|com(?:e|es|ing) to rest|came to rest`, "settled, settles",
	`breach(?:es)?`, "violation",
	`br(?:eak|eaks|oke) (?:a|the|any|no|its) laws?|broken laws?|laws? (?:is|are|was|were) broken`, "violates a law, a violation",
	`unasked|not asked`, "not exercised",
	`namesakes?`, "an object of the same name",
	`told again`, "requeued",
	`strangers?`, "third-party controllers",
	`brawls?|musters?`, "fight, concurrent reconcile",
	`whoever|whomever|whosoever`, "the noun: a user, a client, anybody",
	`of which no|of which none|that of which|those of which|one of such`, "a noun as the subject",
)

// vague matches the start of a doc comment that does not say what the declaration is.
var vague = regexp.MustCompile(`^[\w.]+ (?:is|are) (?:what|who|whose|whom|how|where|when)\b`)

// openings match sentences without a noun as the subject.
var openings = regexp.MustCompile(`(?:^|[.:;] )(?:Who|Whose|Of (?:a|an|the|such|what|each|those|these)) [a-z][^.?]*(?:[.]|$)`)

func unplain(text string) (out []string) {
	text = name.ReplaceAllString(text, "Name")
	for _, p := range plain {
		for _, found := range p.not.FindAllString(text, -1) {
			out = append(out, fmt.Sprintf("%q: write: %s", found, p.write))
		}
	}
	for _, found := range openings.FindAllString(text, -1) {
		out = append(out, fmt.Sprintf("%q: begin with a noun as the subject", found))
	}
	return out
}

// fromSources lists pages whose tables quote the sentences of laws and the comments of scenarios.
var fromSources = []string{"docs/evidence/clauses.md", "docs/evidence/checklist.md", "docs/evidence/track-record.md"}

func TestPagesArePlain(t *testing.T) {
	for _, p := range prose(t) {
		for _, b := range blocks(p.text) {
			if excepted(p, b.line) || strings.HasPrefix(b.text, "|") && slices.Contains(fromSources, p.name) {
				continue
			}
			for _, wrong := range unplain(b.text) {
				t.Errorf("%s:%d: %s", p.name, b.line, wrong)
			}
		}
	}
	for _, bad := range []string{
		"Nobody is accused of it.", "A program is told that he has won.", "It comes to rest.", "The collector mends it.",
		"Of such a one nothing is known.", "It has none but readers.", "A schedule that breaks a law is shrunk.",
		"Who writes it owns it.", "Of a kind nothing is known.",
	} {
		if len(unplain(bad)) == 0 {
			t.Errorf("%q is plain", bad)
		}
	}
	for _, good := range []string{
		"The garbage collector deletes it, or else nothing happens.", "The definition has a generation.", "The rest is left.",
		"Who owns it?", "Of 10 worlds all settle.",
	} {
		if wrong := unplain(good); len(wrong) > 0 {
			t.Errorf("%q: %v", good, wrong)
		}
	}
}

// texts lists fields with texts for users: help of commands and verbs, sentences of clauses and laws.
var texts = []string{"Short", "Long", "Summary", "Detail", "Sentence", "Unasked"}

// told returns a package's constant texts for users: the fields in texts, usages of flags, and errors.
func told(p *packages.Package) (out []sentence) {
	for _, f := range p.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			var said []ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && slices.Contains(texts, id.Name) {
					said = append(said, n.Value)
				}
			case *ast.CallExpr:
				said = saidBy(p, n)
			}
			for _, e := range said {
				if v := p.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
					text := strings.Join(strings.Fields(constant.StringVal(v)), " ")
					at := p.Fset.Position(e.Pos())
					out = append(out, sentence{path.Base(at.Filename), at.Line, inlineCode.ReplaceAllString(text, "Code")})
				}
			}
			return true
		})
	}
	return out
}

// saidBy returns the arguments of a call that users read: the usage of a flag (the last argument of StringVar and
// similar methods), the text of an error, and a text for stderr. It includes functions that only return an error.
func saidBy(p *packages.Package, call *ast.CallExpr) []ast.Expr {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok && short(p.PkgPath) == "cli" && flagCall.MatchString(s.Sel.Name) {
		return call.Args[len(call.Args)-1:]
	}
	f, ok := typeutil.Callee(p.TypesInfo, call).(*types.Func)
	if !ok {
		return nil
	}
	if out := f.Signature().Results(); out.Len() == 1 && out.At(0).Type().String() == "error" {
		return call.Args
	}
	if strings.HasPrefix(f.FullName(), "fmt.Fprint") && strings.Contains(strings.ToLower(types.ExprString(call.Args[0])), "err") {
		return call.Args
	}
	return nil
}

var flagCall = regexp.MustCompile(`^\w+VarP?$`)

func documented(p *packages.Package) (out []sentence) {
	for _, f := range p.Syntax {
		note := func(c *ast.CommentGroup) {
			if c != nil {
				at := p.Fset.Position(c.Pos())
				out = append(out, sentence{path.Base(at.Filename), at.Line, strings.Join(strings.Fields(c.Text()), " ")})
			}
		}
		note(f.Doc)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
					note(d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						note(s.Doc)
						note(d.Doc)
					}
				}
			}
		}
	}
	return out
}

// Help texts, error texts, sentences of laws, and doc comments use the terms of the field.
func TestTextsOfTheCodeArePlain(t *testing.T) {
	for _, p := range tree(t) {
		for _, s := range append(told(p), documented(p)...) {
			found := unplain(s.text)
			if v := vague.FindString(s.text); v != "" {
				found = append(found, fmt.Sprintf("%q: say what it is or does", v))
			}
			for _, w := range found {
				t.Errorf("%s/%s:%d: %s", short(p.PkgPath), s.file, s.line, w)
			}
		}
	}
	for text, want := range map[string]bool{"pick is what is next.": true, "those are whose turn it is.": true,
		"pick returns the index of the next action.": false} {
		if vague.MatchString(text) != want {
			t.Errorf("%q: found %t, want %t", text, !want, want)
		}
	}
}
