package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/audit"
	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

type judging struct {
	checks

	human, program, office string
	at, html               string
	strict, tree           bool
}

func judgeCommand(a *app) *cobra.Command {
	j := &judging{}
	cmd := &cobra.Command{
		Use:   "judge [flags] FILE...",
		Short: "check a real cluster's audit log against the laws",
		Long: `Reads audit logs of kube-apiserver (audit.k8s.io/v1, JSON lines). Prints each violated
law, with the account that violated it. A file may be compressed with gzip, and - is
standard input. If there are several apiservers or rotated files, pass all files in one
command. judge merges them by time. docs/use/judge.md has an audit policy for the laws.

No law applies to people. Few laws apply to system components, such as nodes, the
scheduler and the garbage collector. An account counts as a person if it is not a
service account, does not begin with "system:", and has no user agent of client-go.
kubectl and similar programs count as people. --human, --program and --office override
these rules.

Writes for which the log shows too little are not judged. The summary counts them. judge
prints violations that the writer could not know about, but fails for them only with
--strict.

--tree prints the owners of objects instead of the verdict, at the end of the log or at
the time of --at. --html writes a page of the writes (docs/use/page.md). For a long log,
the page shows only the writes around each finding.`,
		Example: `  threelaws judge audit.log
  threelaws judge --human '^ci-' audit-*.log.gz
  threelaws judge --html audit.html audit.log
  threelaws judge --tree --at 10:02:30 audit.log`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("judge: an audit log must be given; - is standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return j.run(cmd.Context(), a, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&j.human, "human", "", "users that are people: a regular expression")
	fl.StringVar(&j.program, "program", "", "users that are programs")
	fl.StringVar(&j.office, "office", "", "users that are system components, which may write to objects of any owner")
	fl.BoolVar(&j.strict, "strict", false, "also fail for a violation that the actor may not have known about")
	fl.BoolVar(&j.tree, "tree", false, "print the owners of objects")
	fl.StringVar(&j.at, "at", "", "leave out later events: 2026-11-21T10:02:30Z, or 10:02:30 on the log's first day")
	fl.StringVar(&j.html, "html", "", "write a page of the log to this file")
	fl.StringVar(&j.junit, "junit", "", "write a JUnit XML file, with one test case for the log")
	return cmd
}

func (j *judging) run(ctx context.Context, a *app, files []string) error {
	o := audit.Options{Controllers: a.hosted(), Laws: a.registry.Laws, Strict: j.strict, Keep: j.html != ""}
	for _, f := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{{"human", j.human, &o.Rules.Human}, {"program", j.program, &o.Rules.Program},
		{"office", j.office, &o.Rules.Office}} {
		if f.text == "" {
			continue
		}
		r, err := regexp.Compile(f.text)
		if err != nil {
			return usage("--%s: %v", f.flag, err)
		}
		*f.to = r
	}
	if j.at != "" {
		until, err := audit.ParseUntil(j.at)
		if err != nil {
			return usage("--at: %v", err)
		}
		o.Until = until
	}
	source := audit.NewSource()
	size := int64(0)
	for _, name := range files {
		var err error
		if name == stdin {
			err = source.Add(stdin, a.input)
		} else {
			err = source.Open(name)
			size += audit.Size(name)
		}
		if err != nil {
			return usage("judge: %v", err)
		}
	}
	began := time.Now()
	auditor := audit.New(o)
	if err := auditor.Run(source, j.progress(ctx, a, source, size, began)); err != nil {
		return usage("judge: %v", err)
	}
	report := auditor.Report(source)
	tell := func() error { return j.report(ctx, a, report, time.Since(began)) }
	if j.tree {
		tell = func() error { return printTree(a, auditor) }
	}
	if j.html == "" {
		return tell()
	}
	paged := j.page(auditor.Shown(report), files)
	told := tell() // print the report even if the page cannot be written
	if paged != nil {
		return usage("--html: %v", paged)
	}
	return told
}

func (j *judging) page(s *audit.Shown, files []string) error {
	text, err := page.Of(strings.Join(files, ", "), logPage(s)).HTML()
	if err != nil {
		return err
	}
	return writeWhole(j.html, text)
}

func (j *judging) progress(ctx context.Context, a *app, s *audit.Source, size int64, began time.Time) func() bool {
	line := a.progress()
	shown := time.Time{}
	return func() bool {
		if ctx.Err() != nil {
			line.clear()
			return true
		}
		if now := time.Now(); now.Sub(shown) > 200*time.Millisecond {
			shown = now
			line.show("%s", soFar(s.Read, size, now.Sub(began)))
		}
		return false
	}
}

func soFar(read, size int64, took time.Duration) string {
	const mb = 1 << 20
	speed := float64(read) / mb / max(took.Seconds(), 0.001)
	if size == 0 {
		return fmt.Sprintf("%d MB, %.0f MB/s", read/mb, speed)
	}
	const wide = 30
	full := int(min(read*wide/size, wide))
	return fmt.Sprintf("[%-*s] %d of %d MB, %.0f MB/s", wide, "=============================="[:full], read/mb, size/mb,
		speed)
}

// hosted returns the registry's controllers that have a service account in kube-controller-manager.
func (a *app) hosted() []audit.Controller {
	server := fakeapi.New(fakeapi.Options{})
	return audit.Hosted(a.registry.Controllers, func(gvk schema.GroupVersionKind) runtime.Object {
		if k := server.Kind(gvk); k != nil && k.New != nil {
			return k.New()
		}
		return nil
	})
}

func (j *judging) report(ctx context.Context, a *app, r *audit.Report, took time.Duration) error {
	switch {
	case r.Violated:
		a.code = scenarios.ExitFail
	case ctx.Err() != nil:
		a.code = exitInterrupted
	case r.Judged == 0:
		a.code = exitUncovered
	}
	text := r.Text(a.width)
	one := ci.File{Name: "audit", Took: took, Page: r.Text(render.Width)}
	for _, b := range r.Violations {
		one.Problems = append(one.Problems, ci.Problem{Title: b.Law, Text: b.Actor + ": " + b.Text})
	}
	for _, f := range r.Fights {
		one.Problems = append(one.Problems, ci.Problem{Title: "never-fight", Text: f.Sentence()})
	}
	if err := j.add(a, one); err != nil {
		return err
	}
	if err := j.write("threelaws judge"); err != nil {
		return err
	}
	if a.json {
		return a.encode(judgement{r, took.Seconds(), a.code})
	}
	a.print(text)
	return nil
}

type judgement struct {
	*audit.Report
	Seconds  float64 `json:"seconds"`
	ExitCode int     `json:"exitCode"`
}

func printTree(a *app, auditor *audit.Auditor) error {
	text := render.Tree(auditor.Owned())
	if a.json {
		return a.encode(drawn{Tree: text})
	}
	a.print(text)
	return nil
}

// logged reports whether a file is an audit log: it is compressed with gzip, or its first character is "{".
func (s *shelf) logged(name string) bool {
	in := bufio.NewReader(s.input)
	if name == stdin {
		s.input = in
	} else {
		f, err := os.Open(name)
		if err != nil {
			return false // a library scenario, or a missing file, for which the reader returns an error
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
	s.h, s.violations = &all.History, all.Marks
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

func (a *app) aside(text string) { fmt.Fprint(a.err, render.Fold(a.name+": "+text)) }

func logPage(s *audit.Shown) page.Source {
	src := page.Whole("the log", &s.History, s.Marks)
	src.Began, src.Small = s.Began, partly(s)
	return src
}

// partly returns a sentence about which part of a log is shown, or "" for the whole log.
func partly(s *audit.Shown) string {
	n := s.History.Len()
	if n == s.Of {
		return ""
	}
	return fmt.Sprintf("this shows %d of %d writes and refusals: the last ones, and those around each finding", n, s.Of)
}
