package audit

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/threelaws/threelaws/internal/render"
)

var errJSON = errors.New("not a whole JSON object")

// skip returns the index after the value that begins at i, or -1 if no whole value begins there. It validates nothing.
func skip(b []byte, i int) int {
	i = space(b, i)
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && plain[b[i]] {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// plain contains the bytes of numbers and of true, false and null.
var plain = func() (t [256]bool) {
	for _, c := range []byte("0123456789+-.eEtrufalsn") {
		t[c] = true
	}
	return t
}()

// nests contains the bytes that skipNested must examine to find the end of an object or a list.
var nests = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		c := b[i]
		if !nests[c] {
			i++
			continue
		}
		switch c {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

func skipString(b []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		back := end
		for back > i && b[back-1] == '\\' {
			back--
		}
		i = end + 1
		if (end-back)%2 == 0 {
			return i
		}
	}
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// members calls f with each member of a JSON object, until f returns false. Values are raw JSON. members returns an
// error if the text is not an object, or is truncated.
func members(b []byte, f func(key, value []byte) bool) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return errJSON
	}
	for i = space(b, i+1); i < len(b) && b[i] != '}'; i = space(b, i) {
		if b[i] != '"' {
			return errJSON
		}
		end := skipString(b, i)
		if end < 0 {
			return errJSON
		}
		key := b[i+1 : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return errJSON
		}
		from := space(b, i+1)
		if i = skip(b, from); i < 0 {
			return errJSON
		}
		if !f(key, b[from:i]) {
			return nil
		}
		if i = space(b, i); i < len(b) && b[i] == ',' {
			i++
		}
	}
	if i >= len(b) {
		return errJSON
	}
	return nil
}

func member(b []byte, name string) (found []byte) {
	_ = members(b, func(key, value []byte) bool {
		if string(key) == name {
			found = value
		}
		return found == nil
	})
	return found
}

func elements(b []byte, f func(value []byte)) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for i = space(b, i+1); i < len(b) && b[i] != ']'; i = space(b, i) {
		end := skip(b, i)
		if end < 0 {
			return
		}
		f(b[i:end])
		if i = space(b, end); i < len(b) && b[i] == ',' {
			i++
		}
	}
}

// text returns the value of a JSON string, or "" for another type. The result is cleaned by [render.Plain], so that
// text from a log cannot control the terminal or imitate other lines.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	in := value[1 : len(value)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return render.Plain(string(in))
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return render.Plain(s)
}

// number returns the value of a JSON integer, or 0 for another type.
func number(value []byte) (n uint64) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}
