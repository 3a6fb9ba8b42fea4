package kubectltest

import (
	"regexp"
	"strings"
)

// What a client prints that is not what a session is about.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`(resourceVersion"?: ?)"\d+"`), `$1"RV"`},
	{regexp.MustCompile(`[^\s"]*/kubectl[^\s"]*`), "TEMPFILE"},
	{regexp.MustCompile(`\b(LIVE|MERGED)-\d+/`), "$1/"},
}

// golden is output as it stands in a session: uids and revisions replaced, no
// trailing spaces, no blank lines, "(none)" for nothing.
func golden(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	if b.Len() == 0 {
		return "(none)\n"
	}
	return b.String()
}
