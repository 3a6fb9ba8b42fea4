package scenarios

import (
	"strings"
	"unicode/utf8"
)

// parser goes through the lines of a file.
type parser struct {
	file *File
	at   int // offset of the next line
	line int // number of the line read last
}

// next returns the next line without its line end, and its offset.
func (p *parser) next() (text string, from int, ok bool) {
	src := p.file.src
	if p.at >= len(src) {
		return "", p.at, false
	}
	from = p.at
	if i := strings.IndexByte(src[from:], '\n'); i >= 0 {
		text, p.at = src[from:from+i], from+i+1
	} else {
		text, p.at = src[from:], len(src)
	}
	p.line++
	return strings.TrimSuffix(text, "\r"), from, true
}

// peek returns the next line without moving on.
func (p *parser) peek() (string, bool) {
	at, line := p.at, p.line
	text, _, ok := p.next()
	p.at, p.line = at, line
	return text, ok
}

// Parse reads a scenario file. The name is for messages; errors are [*Error]s
// with the line. Parse knows which verbs there are but not what they mean: see
// [File.Check].
func Parse(name string, data []byte) (*File, error) {
	if len(data) > MaxSize {
		return nil, wrong(name, 0, "", "the file is too large: %d bytes, at most %d are read", len(data), MaxSize)
	}
	if i := invalidUTF8(data); i >= 0 {
		line := 1 + strings.Count(string(data[:i]), "\n")
		return nil, wrong(name, line, "", "the file is not text: invalid UTF-8")
	}
	f := &File{Name: name, src: string(data)}
	if strings.TrimSpace(f.src) == "" {
		return nil, wrong(name, 1, "", "the file is empty: a scenario starts with verbs; see the help for scenario files")
	}
	p := &parser{file: f}
	if err := p.script(); err != nil {
		return nil, err
	}
	if err := p.sections(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, wrong(name, 1, "", "the file has no steps: a scenario starts with verbs; see the help for scenario files")
	}
	return f, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 || r == 0 {
			return i
		}
		i += n
	}
	return -1
}

// script reads up to the first section marker.
func (p *parser) script() error {
	phase, comment := "", false
	for {
		text, ok := p.peek()
		if !ok || sectionName(text) != "" {
			return nil
		}
		p.next()
		word := strings.TrimSpace(text)
		switch {
		case word == "":
			comment = false
		case word[0] == '#':
			if !comment {
				phase = strings.TrimSpace(strings.TrimLeft(word, "#"))
			}
			comment = true
		case word == "----":
			return wrong(p.file.Name, p.line, "", "---- stands alone: expected output belongs directly beneath its step")
		default:
			comment = false
			if err := p.step(word, phase); err != nil {
				return err
			}
		}
	}
}

// step reads one step and the golden text beneath it.
func (p *parser) step(text, phase string) error {
	s := &Step{Line: p.line, Phase: phase, file: p.file}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		s.Expect, text = true, strings.TrimSpace(rest)
	}
	words, err := split(text)
	if err != "" {
		return wrong(p.file.Name, p.line, "", "%s", err)
	}
	if len(words) == 0 {
		return wrong(p.file.Name, p.line, "", "! stands alone: a verb belongs behind it")
	}
	s.Verb = words[0].text
	verb := FindVerb(s.Verb)
	if verb == nil && (strings.HasSuffix(s.Verb, ":") || s.Verb == "---") {
		return wrong(p.file.Name, p.line, "", "%s is YAML, not a verb: a scenario is a script with its manifests in sections below it: \"apply world.yaml\", then \"-- world.yaml --\" above the YAML", s.Verb)
	}
	if verb == nil {
		return wrong(p.file.Name, p.line, "", "unknown verb %s%s", s.Verb, suggest(s.Verb, verbNames()))
	}
	for _, w := range words[1:] {
		s.Args = append(s.Args, w.arg())
	}
	if err := s.checkShape(verb); err != nil {
		return err
	}
	p.file.Steps = append(p.file.Steps, s)
	if next, ok := p.peek(); ok && strings.TrimSpace(next) == "----" {
		p.next()
		p.golden(s)
	}
	return nil
}

// golden reads the lines beneath "----" up to a blank line or a section.
func (p *parser) golden(s *Step) {
	s.HasGolden, s.from = true, p.at
	for {
		text, ok := p.peek()
		if !ok || strings.TrimSpace(text) == "" || sectionName(text) != "" {
			break
		}
		p.next()
	}
	s.to = p.at
	s.Golden = p.file.src[s.from:s.to]
}

// sections reads the archive below the script.
func (p *parser) sections() error {
	var current *Section
	from := 0
	end := func(to int) {
		if current != nil {
			current.Body = p.file.src[from:to]
		}
	}
	for {
		text, at, ok := p.next()
		if !ok {
			end(len(p.file.src))
			return nil
		}
		name := sectionName(text)
		if name == "" {
			continue
		}
		end(at)
		if old := p.file.Section(name); old != nil {
			return wrong(p.file.Name, p.line, "", "section %s stands twice: the first is on line %d", name, old.Line)
		}
		current, from = &Section{Name: name, Line: p.line}, p.at
		p.file.Sections = append(p.file.Sections, current)
	}
}

// sectionName returns the name in a "-- name --" line, "" for any other line.
func sectionName(line string) string {
	line = strings.TrimRight(line, " \t")
	if len(line) < 7 || !strings.HasPrefix(line, "-- ") || !strings.HasSuffix(line, " --") {
		return ""
	}
	return strings.TrimSpace(line[3 : len(line)-3])
}
