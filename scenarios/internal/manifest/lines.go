package manifest

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// line translates a line number of the text into one of the file.
func (t *Text) line(n *yaml.Node) int { return t.Line + n.Line }

var yamlLine = regexp.MustCompile(`line (\d+): `)

// otherLine matches the second line that an error names: where a key occurred first.
var otherLine = regexp.MustCompile(`\bat line \d+\b`)

// yamlError moves the line numbers of a YAML error into the file.
func (t *Text) yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, "unmarshal errors:")), "\n")
	line := t.Line
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		line += n
		text = text[:m[0]] + text[m[1]:]
	} else {
		line++
	}
	text, _, _ = strings.Cut(text, "\n")
	text = otherLine.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(m, "at line "))
		return "at line " + strconv.Itoa(t.Line+n)
	})
	if strings.Contains(text, "tab character") {
		line = t.tabLine(line)
	}
	return t.Wrong(line, "bad YAML in %s: %s", t.Name, text)
}

// tabLine returns the first line at or after a line that is indented with a tab. The parser names the line before it.
func (t *Text) tabLine(from int) int {
	line := t.Line
	for text := range strings.Lines(t.Body) {
		line++
		if line >= from && strings.HasPrefix(strings.TrimLeft(text, " "), "\t") {
			return line
		}
	}
	return from
}

// find follows a path like spec.containers[0].name into a mapping. It returns the key's node, or the deepest node
// found.
func find(n *yaml.Node, path string) *yaml.Node {
	at := n
	for _, part := range steps(path) {
		if i, err := strconv.Atoi(part); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			n = n.Content[i]
			at = n
			continue
		}
		next := false
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, part) {
				at, n, next = n.Content[i], n.Content[i+1], true
				break
			}
		}
		if !next {
			return at
		}
	}
	return at
}

// steps splits a field path at dots and brackets.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// cutPath splits the last field off a path.
func cutPath(path string) (parent, last string) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
