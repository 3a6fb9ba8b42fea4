package render

import "strings"

// Color adds terminal colours to rendered text: red for a violation and its mark, yellow for a race and a stale cache,
// grey for refusals. The text is otherwise unchanged. It is for terminals only and never part of a golden file.
func Color(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		code := colorOf(body)
		if code == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + body + "\x1b[0m" + line[len(body):])
	}
	return b.String()
}

func colorOf(line string) string {
	head := strings.TrimLeft(line, " ")
	switch {
	case strings.Contains(line, "VIOLATES "), strings.HasPrefix(head, "!  "), strings.HasPrefix(line, "--- FAIL"):
		return "31"
	case strings.Contains(line, "RACES "), strings.HasPrefix(head, "~"):
		return "33"
	case strings.Contains(line, "  refused"):
		return "90"
	}
	return ""
}
