package metapatch

import "slices"

// Parse parses a patch that contains only metadata. ok is false if the patch has other fields, escapes, wrong types,
// duplicate keys or syntax errors. The general patch code must then apply the patch.
func Parse(text []byte, strategic bool) (p Patch, ok bool) {
	s := scan{text: text}
	seen := false
	s.object(func(key string) {
		if key != "metadata" || seen {
			s.bad = true
			return
		}
		seen = true
		s.metadata(&p, strategic)
	})
	s.space()
	return p, !s.bad && seen && s.at == len(s.text)
}

// scan reads JSON from left to right. It sets bad at the first error.
type scan struct {
	text []byte
	at   int
	bad  bool
}

func (s *scan) metadata(p *Patch, strategic bool) {
	s.object(func(key string) {
		once := func(first bool) {
			if !first {
				s.bad = true
			}
		}
		switch key {
		case "uid":
			once(p.uid == nil)
			p.uid = s.text1()
		case "resourceVersion":
			once(p.version == nil)
			p.version = s.text1()
		case "labels":
			once(p.labels == nil)
			p.labels = s.mapPatch()
		case "annotations":
			once(p.annotations == nil)
			p.annotations = s.mapPatch()
		case "finalizers":
			once(p.finalizers == nil)
			p.finalizers = s.stringsPatch()
		case "ownerReferences":
			once(p.owners == nil)
			p.owners = s.ownersPatch(strategic)
		case "$deleteFromPrimitiveList/finalizers":
			once(p.unfinalize == nil && strategic)
			list := s.stringsPatch()
			if list.null || len(list.items) == 0 {
				s.bad = true
			}
			p.unfinalize = list.items
		default:
			s.bad = true
		}
	})
	if p.unfinalize != nil && p.finalizers != nil {
		s.bad = true // only the general patch code can merge both lists
	}
}

func (s *scan) mapPatch() *mapPatch {
	p := &mapPatch{}
	if s.null() {
		p.null = true
		return p
	}
	s.object(func(key string) {
		if key == "" || key[0] == '$' || slices.Contains(p.keys, key) {
			s.bad = true
			return
		}
		p.keys = append(p.keys, key)
		if s.null() {
			p.values = append(p.values, nil)
		} else {
			p.values = append(p.values, s.text1())
		}
	})
	return p
}

func (s *scan) stringsPatch() *stringsPatch {
	p := &stringsPatch{}
	if s.null() {
		p.null = true
		return p
	}
	s.list(func() {
		item := s.text1()
		if item == nil || slices.Contains(p.items, *item) {
			s.bad = true
			return
		}
		p.items = append(p.items, *item)
	})
	return p
}

func (s *scan) ownersPatch(strategic bool) *ownersPatch {
	p := &ownersPatch{}
	if s.null() {
		p.null = true
		return p
	}
	s.list(func() { s.owner(p, strategic) })
	return p
}

func (s *scan) owner(p *ownersPatch, strategic bool) {
	var o ownerPatch
	var keys []string
	directive := ""
	s.object(func(key string) {
		if slices.Contains(keys, key) {
			s.bad = true
		}
		keys = append(keys, key)
		switch key {
		case "apiVersion":
			o.apiVersion = s.text1()
		case "kind":
			o.kind = s.text1()
		case "name":
			o.name = s.text1()
		case "uid":
			o.uid = s.text1()
		case "controller":
			o.clearController = s.null()
			if !o.clearController {
				o.controller = s.bool()
			}
		case "blockOwnerDeletion":
			o.clearBlock = s.null()
			if !o.clearBlock {
				o.block = s.bool()
			}
		case "$patch":
			if d := s.text1(); d != nil {
				directive = *d
			}
		default:
			s.bad = true
		}
	})
	switch {
	case directive == "" && (o.uid != nil || !strategic):
		p.items = append(p.items, o)
	case directive == "delete" && strategic && o.uid != nil:
		o.remove = true
		p.items = append(p.items, o)
	case directive == "replace" && strategic && len(keys) == 1:
		p.replace = true
	default:
		s.bad = true
	}
}

func (s *scan) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scan) take(b byte) bool {
	s.space()
	if s.bad || s.at >= len(s.text) || s.text[s.at] != b {
		return false
	}
	s.at++
	return true
}

func (s *scan) need(b byte) {
	if !s.take(b) {
		s.bad = true
	}
}

func (s *scan) object(f func(key string)) {
	s.need('{')
	if s.take('}') {
		return
	}
	for !s.bad {
		key := s.text1()
		s.need(':')
		if s.bad {
			return
		}
		f(*key)
		if s.take('}') {
			return
		}
		s.need(',')
	}
}

func (s *scan) list(f func()) {
	s.need('[')
	if s.take(']') {
		return
	}
	for !s.bad {
		f()
		if s.take(']') {
			return
		}
		s.need(',')
	}
}

// text1 reads a string of printable ASCII without escapes. It returns nil for other text.
func (s *scan) text1() *string {
	s.need('"')
	start := s.at
	for !s.bad && s.at < len(s.text) {
		switch b := s.text[s.at]; {
		case b == '"':
			text := string(s.text[start:s.at])
			s.at++
			return &text
		case b == '\\' || b < ' ' || b >= 0x7f:
			s.bad = true
		default:
			s.at++
		}
	}
	s.bad = true
	return nil
}

func (s *scan) word(w string) bool {
	s.space()
	if s.bad || len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scan) null() bool { return s.word("null") }

func (s *scan) bool() *bool {
	switch {
	case s.word("true"):
		return &flagTrue
	case s.word("false"):
		return &flagFalse
	}
	s.bad = true
	return nil
}

var flagTrue, flagFalse = true, false
