package cli

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// plural counts things: "1 file", "3 files".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// round words a duration for people.
func round(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// plainWord is a word that a shell takes as it stands.
var plainWord = regexp.MustCompile(`^[\pL\pN_./:@%+=,][-\pL\pN_./:@%+=,]*$`)

// argument is a scenario file as a shell is to be told of it, in a command to be
// copied.
func argument(title string) string {
	switch {
	case title == titleOf(stdin) && !onDisk(title):
		return stdin
	case plainWord.MatchString(title):
		return title
	case strings.HasPrefix(title, "-"):
		title = "./" + title
	}
	return "'" + strings.ReplaceAll(title, "'", `'\''`) + "'"
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}
