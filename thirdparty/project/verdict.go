package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// about is the file with a handwritten text about a project: which part of the project runs here, and how.
const about = "testdata/about.md"

// verdict returns the findings of a project as a section of docs/evidence/third-party.md.
func (s *Project) verdict(t *testing.T, all []*world) string {
	said, err := os.ReadFile(about)
	if err != nil {
		t.Fatal(err)
	}
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	at = "thirdparty/" + filepath.Base(at)
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s\n\n%s\n| world | schedules | violated law | steps |\n|---|---|---|---|\n", s.Module,
		s.released(t).version, said)
	for _, w := range all {
		first, _, _ := strings.Cut(w.file.Steps[w.until].Golden, " ") // "100 schedules, ..."
		broken := "none |"
		if w.small != nil {
			broken = fmt.Sprintf("%s | %d", w.law, w.small.Step())
		}
		fmt.Fprintf(&b, "| [%s](../../%s/testdata/%s.txtar) | %s | %s |\n", w.name, at, w.name, first, broken)
	}
	for _, w := range all {
		fmt.Fprintf(&b, "\n### %s\n\n%s", w.name, wrapped(w.what))
		if w.code != "" {
			b.WriteString("\n" + wrapped("The code is in "+w.code+"."))
		}
		if w.known != "" {
			b.WriteString("\n" + wrapped("*Known:* "+w.known))
		}
		if w.small != nil {
			fmt.Fprintf(&b, "\n```text\n%s```\n\nThe file `%s/%s` replays it.\n", middle(w.small.Text()), at, w.shrunk())
		}
	}
	return b.String()
}

// shown is the maximum number of lines of a timeline that the section shows.
const shown = 45

func middle(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= shown {
		return text
	}
	head, tail := lines[:shown*2/3], lines[len(lines)-shown/3:]
	return strings.Join(head, "") + fmt.Sprintf("    ... %d lines ...\n", len(lines)-len(head)-len(tail)) +
		strings.Join(tail, "")
}

func wrapped(text string) string {
	var b strings.Builder
	at := 0
	for _, w := range strings.Fields(text) {
		switch {
		case at == 0:
		case at+1+len(w) > 116:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += len(w)
	}
	return b.String() + "\n"
}
