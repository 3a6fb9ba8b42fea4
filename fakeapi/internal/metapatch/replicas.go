package metapatch

import "math"

// ParseReplicas reads {"spec":{"replicas":n}} and gives up, with ok
// false, on everything else.
func ParseReplicas(text []byte) (n int32, ok bool) {
	s := scan{text: text}
	s.need('{')
	s.needWord(`"spec"`)
	s.need(':')
	s.need('{')
	s.needWord(`"replicas"`)
	s.need(':')
	n = s.int32()
	s.need('}')
	s.need('}')
	s.space()
	return n, !s.bad && s.at == len(s.text)
}

func (s *scan) needWord(w string) {
	if !s.word(w) {
		s.bad = true
	}
}

// int32 reads a whole number of up to nine digits in its shortest form.
func (s *scan) int32() int32 {
	negative := s.take('-')
	if !negative {
		s.space()
	}
	start, n := s.at, int64(0)
	for !s.bad && s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' && n < math.MaxInt32 {
		n = 10*n + int64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - start
	if digits == 0 || digits > 9 || digits > 1 && s.text[start] == '0' {
		s.bad = true
	}
	if negative {
		n = -n
	}
	return int32(n)
}
