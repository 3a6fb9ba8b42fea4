package install

import (
	"bytes"
	"path"
	"regexp"
)

func isPage(name string) bool { return path.Ext(name) == ".md" }

var (
	fence   = regexp.MustCompile("^[ \t>]*(```+|~~~+)[ \t]*([a-zA-Z]*)")
	heredoc = regexp.MustCompile(`<<-?[ \t]*["']?(\w+)["']?`)
)

// manifestsIn returns the YAML in the code blocks of a Markdown page, and in the here-documents of shell commands there. All
// other lines are empty, so that line numbers stay the same. blocks are the numbers of the lines before each block.
func manifestsIn(page []byte) (text []byte, blocks []int) {
	var closes, ends, indent []byte // what ends the code block, and the here-document in it
	in, n := "", 0
	for line := range bytes.Lines(page) {
		n++
		bare, out := bytes.TrimSpace(line), []byte("\n")
		begin := func() { out, blocks = []byte("---\n"), append(blocks, n) }
		switch m := fence.FindSubmatch(line); {
		case closes == nil && m != nil:
			closes, in, indent = m[1], string(m[2]), line[:bytes.Index(line, m[1])]
			if in == "yaml" || in == "yml" {
				begin()
			}
		case closes != nil && bytes.Equal(bare, closes):
			if closes, ends = nil, nil; in == "yaml" || in == "yml" {
				begin()
			}
		case closes == nil:
		case in == "yaml" || in == "yml":
			out = bytes.TrimPrefix(line, indent)
		case ends == nil:
			if m := heredoc.FindSubmatch(line); m != nil {
				ends = m[1]
				begin()
			}
		case bytes.Equal(bare, ends):
			ends = nil
			begin()
		default:
			out = bytes.TrimPrefix(line, indent)
		}
		text = append(text, out...)
	}
	return text, blocks
}
