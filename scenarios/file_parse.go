package scenarios

import (
	"strings"
	"unicode/utf8"

	"github.com/threelaws/threelaws/scenarios/internal/words"
)

type parser struct {
	file *File
	at   int // the offset of the next line
	line int // the number of the last line that was read
}

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

func (p *parser) peek() (string, bool) {
	at, line := p.at, p.line
	text, _, ok := p.next()
	p.at, p.line = at, line
	return text, ok
}

const startsWithVerbs = "a scenario starts with verbs; see the help for scenario files"

func parse(name string, data []byte, verbs []*Verb) (*File, error) {
	if len(data) > MaxSize {
		return nil, wrong(name, 0, "", "the file is too large: %d bytes, at most %d are read", len(data), MaxSize)
	}
	if i := invalidUTF8(data); i >= 0 {
		line := 1 + strings.Count(string(data[:i]), "\n")
		return nil, wrong(name, line, "", "the file is not text: invalid UTF-8")
	}
	f := &File{Name: name, src: string(data), verbs: verbs, quiet: &quietEnds{}}
	if strings.TrimSpace(f.src) == "" {
		return nil, wrong(name, 1, "", "the file is empty: %s", startsWithVerbs)
	}
	p := &parser{file: f}
	if err := p.script(); err != nil {
		return nil, err
	}
	if err := p.sections(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, wrong(name, 1, "", "the file has no steps: %s", startsWithVerbs)
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

func (p *parser) script() error {
	phase, said, comment := "", "", false
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
			text := strings.TrimSpace(strings.TrimLeft(word, "#"))
			if comment {
				text = said + " " + text
			}
			said, comment = text, true
			phase = said
			if end := strings.Index(said, ". "); end >= 0 {
				phase = said[:end+1]
			}
		case word == "----":
			return wrong(p.file.Name, p.line, "",
				"---- stands alone: expected output belongs directly beneath its step")
		default:
			comment = false
			if err := p.step(word, phase); err != nil {
				return err
			}
		}
	}
}

func (p *parser) step(text, phase string) error {
	s := &Step{Line: p.line, Phase: phase, file: p.file}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		s.Expect, text = true, strings.TrimSpace(rest)
	}
	line, what := words.Split(text)
	if what != "" {
		return wrong(p.file.Name, p.line, "", "%s", what)
	}
	if len(line) == 0 {
		return wrong(p.file.Name, p.line, "", "! stands alone: put a verb behind it")
	}
	s.Verb = line[0].Text
	if s.verb = verbNamed(p.file.verbs, s.Verb); s.verb == nil {
		return p.noVerb(s.Verb)
	}
	for _, w := range line[1:] {
		for _, text := range s.verb.items(w) {
			s.Args = append(s.Args, arg(words.Word{Text: text, Quoted: w.Quoted}))
		}
	}
	if err := s.checkShape(); err != nil {
		return err
	}
	p.file.Steps = append(p.file.Steps, s)
	if next, ok := p.peek(); ok && strings.TrimSpace(next) == "----" {
		p.next()
		p.golden(s)
	}
	return nil
}

func (p *parser) noVerb(word string) error {
	if strings.HasSuffix(word, ":") || word == "---" {
		return wrong(p.file.Name, p.line, "", "%s is YAML, not a verb: a scenario is a script with its manifests "+
			"in sections below it: \"apply world.yaml\", then \"-- world.yaml --\" above the YAML", word)
	}
	var names []string
	for _, v := range p.file.verbs {
		names = append(names, v.Name)
	}
	return wrong(p.file.Name, p.line, "", "unknown verb %s%s", word, suggest(word, names))
}

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

func (p *parser) sections() error {
	var current *section
	from := 0
	end := func(to int) error {
		if current == nil {
			return nil
		}
		current.body = p.file.src[from:to]
		if err := current.unpack(); err != nil {
			return wrong(p.file.Name, current.line, "", "section %s is not text packed by gzip and base64: %v", current.name, err)
		}
		return nil
	}
	for {
		text, at, ok := p.next()
		if !ok {
			return end(len(p.file.src))
		}
		name := sectionName(text)
		if name == "" {
			continue
		}
		if err := end(at); err != nil {
			return err
		}
		if old := p.file.section(strings.TrimSuffix(name, packed)); old != nil {
			return wrong(p.file.Name, p.line, "", "section %s occurs twice: the first is on line %d", name, old.line)
		}
		current, from = &section{name: name, line: p.line}, p.at
		p.file.sections = append(p.file.sections, current)
	}
}

// sectionName returns the name in a line "-- name --", or "".
func sectionName(line string) string {
	line = strings.TrimRight(line, " \t")
	if len(line) < 7 || !strings.HasPrefix(line, "-- ") || !strings.HasSuffix(line, " --") {
		return ""
	}
	return strings.TrimSpace(line[3 : len(line)-3])
}
