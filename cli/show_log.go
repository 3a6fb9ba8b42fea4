package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/threelaws/threelaws/internal/audit"
	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
)

// logged reports whether an argument is an audit log, or what watch has recorded, and no
// scenario file: those are never compressed, and begin with no brace.
func (s *shelf) logged(name string) bool {
	in := bufio.NewReader(s.input)
	if name == stdin {
		s.input = in
	} else {
		f, err := os.Open(name)
		if err != nil {
			return false // of the library, or not there: whoever reads it says so
		}
		defer f.Close()
		in = bufio.NewReader(io.LimitReader(f, 1<<12))
	}
	if magic, _ := in.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		return true
	}
	for n := 1; n <= in.Size(); n++ {
		text, err := in.Peek(n)
		if err != nil {
			return false
		}
		switch text[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return text[n-1] == '{'
		}
	}
	return false
}

// log shows what is in an audit log, or in what watch has recorded.
func (s *shown) log(a *app, name string) error {
	source := audit.NewSource()
	var err error
	if name == stdin {
		err = source.Add(titleOf(name), a.input)
	} else {
		err = source.Open(name)
	}
	auditor := audit.New(audit.Options{Controllers: a.hosted(), Laws: a.registry.Laws, Keep: true})
	if err == nil {
		err = auditor.Run(source, func() bool { return false })
	}
	if err != nil {
		return usage("show: %v", err)
	}
	report := auditor.Report(source)
	for _, n := range report.Notes {
		a.aside(n)
	}
	for _, k := range report.Skipped {
		a.aside(k.String())
	}
	all := auditor.Shown(report)
	s.h, s.breaches = &all.History, all.Marks
	if s.as == "html" || s.as == "svg" {
		src := logPage(all)
		src.Replay = a.name + " judge " + argument(titleOf(name))
		return picture(a, s.as, name, src)
	}
	if n := partly(all); n != "" {
		a.aside(n)
	}
	if s.as == "timeline" && !a.json && s.h.Len() > 0 {
		a.print("times count from " + all.Began.UTC().Format("2006-01-02T15:04:05.000Z07:00") + "\n")
	}
	return show(a, s)
}

// aside tells what is not of what was asked for, on standard error.
func (a *app) aside(text string) { fmt.Fprint(a.err, render.Fold(a.name+": "+text)) }

// logPage is the page of a log.
func logPage(s *audit.Shown) page.Source {
	src := page.Whole("the log", &s.History, s.Marks)
	src.Began, src.Small = s.Began, partly(s)
	return src
}

// partly says how much of a log is shown, "" where all of it is.
func partly(s *audit.Shown) string {
	n := s.History.Len()
	if n == s.Of {
		return ""
	}
	return fmt.Sprintf("of %d writes and refusals this shows %d: the last, and those around what was found", s.Of, n)
}
