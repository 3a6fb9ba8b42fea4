package kubectltest

import (
	"regexp"
	"slices"
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
	{regexp.MustCompile(`("goVersion": )"[^"]*"`), `$1"GO"`},
	{regexp.MustCompile(`("platform": )"[^"]*"`), `$1"PLATFORM"`},
	{regexp.MustCompile(`\b(LIVE|MERGED)-\d+/`), "$1/"},
}

// unordered are lines that kubectl prints from goroutines: a run of lines of one
// of these forms is sorted.
var unordered = []*regexp.Regexp{
	regexp.MustCompile(`^evicting pod `),
	regexp.MustCompile(`^pod/\S+ (evicted|deleted)$`),
	regexp.MustCompile(`^cannot delete `),
}

// lists are those that kubectl drain prints in the order of a map: what stands
// around one, and what begins each but the first of its parts.
var lists = []struct {
	pattern *regexp.Regexp
	between string
}{
	{regexp.MustCompile(`(\[)(cannot delete .*)(\], continuing)`), ", cannot delete "},
	{regexp.MustCompile(`(Warning: )((?:ignoring|deleting) .*)()`), "; "},
}

// sortLists sorts the parts of such lists.
func sortLists(text string) string {
	for _, l := range lists {
		lead := strings.TrimLeft(l.between, ",; ") // begins every part
		text = l.pattern.ReplaceAllStringFunc(text, func(list string) string {
			m := l.pattern.FindStringSubmatch(list)
			parts := strings.Split(strings.TrimPrefix(m[2], lead), l.between)
			slices.Sort(parts)
			return m[1] + lead + strings.Join(parts, l.between) + m[3]
		})
	}
	return text
}

// golden is output as it stands in a session: uids and revisions replaced, no
// trailing spaces, no blank lines, "(none)" for nothing.
func golden(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	var lines []string
	for line := range strings.Lines(sortLists(text)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "(none)\n"
	}
	sortRuns(lines)
	return strings.Join(lines, "\n") + "\n"
}

// sortRuns sorts the runs of unordered lines.
func sortRuns(lines []string) {
	for _, form := range unordered {
		for from := 0; from < len(lines); from++ {
			to := from
			for to < len(lines) && form.MatchString(lines[to]) {
				to++
			}
			slices.Sort(lines[from:to])
			from = max(from, to-1)
		}
	}
}
