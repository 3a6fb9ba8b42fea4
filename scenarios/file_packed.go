package scenarios

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// A section of a failure with at least 16 KiB is written as gzip in base64. Large sections are the CRDs of an operator,
// or the schedule of a world that never settles. The name of a packed section ends in ".gz", and its lines have 100
// characters.
const (
	packed      = ".gz"
	leastPacked = 16 << 10
	packedWidth = 100
)

func writeSection(b *strings.Builder, name, body string) {
	if len(body) >= leastPacked {
		var raw bytes.Buffer
		z, _ := gzip.NewWriterLevel(&raw, gzip.BestCompression) // cannot fail: the level is valid
		_, _ = io.WriteString(z, body)
		_ = z.Close()
		text := base64.StdEncoding.EncodeToString(raw.Bytes())
		name, body = name+packed, ""
		for ; len(text) > packedWidth; text = text[packedWidth:] {
			body += text[:packedWidth] + "\n"
		}
		body += text
	}
	fmt.Fprintf(b, "-- %s --\n%s\n", name, strings.TrimRight(body, "\n"))
}

func (s *section) unpack() error {
	name, is := strings.CutSuffix(s.name, packed)
	if !is {
		return nil
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(s.body)))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(z, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		err = fmt.Errorf("its text is longer than %d bytes", MaxSize)
	}
	s.name, s.body = name, string(text)
	return err
}
