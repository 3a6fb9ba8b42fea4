package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

type replayed struct {
	File       string             `json:"file"`
	Hash       string             `json:"hash"`
	Again      string             `json:"again"` // the hash of the second run, which is equal to Hash
	Reproduced bool               `json:"reproduced"`
	Law        string             `json:"law,omitempty"`
	Page       *render.Page       `json:"page,omitempty"`
	Errors     []*scenarios.Error `json:"errors,omitempty"`
	ExitCode   int                `json:"exitCode"`

	elsewhere string // the command that replays a kept failure, if this one has not
}

func replayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE|NAME",
		Short: "run a failure file exactly, twice, and compare the hashes",
		Long: `Runs the file twice and compares the hashes of the two runs. It uses the schedule in the
file, or the default schedule if there is none. It skips steps that explore.

If the failure happens again, replay prints it, even if the file expects it with "!".
The exit code is then 1, or 3 if the world does not settle. The exit code is 0 if no law
is violated and the output is as recorded. If the two runs differ, the exit code is 4,
and replay prints the first step that differs.

replay also writes a page of the failure, to the place where explore wrote it, or to
.threelaws. To compare a failure file with its golden text, use "threelaws run".`,
		Example: "  threelaws replay .threelaws/FILE.txtar",
		Args:    oneFile,

		ValidArgsFunction: completeFiles(&a.shelf, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replay(a, args[0])
		},
	}
}

func replay(a *app, path string) error {
	rep := &replayed{}
	res, err := a.watch(path, scenarios.Options{Twice: true, Inspect: rep.inspect})
	if err != nil {
		return err
	}
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitNondetermine {
			return e
		}
	}
	rep.File, rep.Hash, rep.Again, rep.Errors = res.File, res.Hash, res.Hash, res.Errors
	if res.ExitCode != scenarios.ExitPass {
		rep.elsewhere = a.keptBy(path)
		rep.Reproduced, rep.Law, rep.Page, rep.ExitCode = false, "", res.Page, res.ExitCode
		if rep.Page != nil {
			rep.Law = rep.Page.Violation.Law
		}
	}
	if rep.Page != nil {
		rep.Page.Draw(a.command("show --as dot", rep.File))
		rep.Page.Replay = a.command("replay", rep.File)
		a.leave(pageOf(rep.File, ""), rep.Page, nil)
		rep.Page.Replay = "" // the printed text does not show the command that the user has just typed
	}
	a.code = rep.ExitCode
	if a.json {
		return a.encode(rep)
	}
	a.print(rep.text(a.width))
	return nil
}

// command returns the command that does something with a scenario file, hosted like this time.
func (a *app) command(does, file string) string {
	if a.main != "" {
		does += " --main " + argument(a.main)
	}
	return a.name + " " + does + " " + argument(file)
}

// elsewhere adds to the error "unknown controller" how to host the controller: with the replay command of a kept failure,
// or with --main.
func (a *app) elsewhere(err error) error {
	var e *scenarios.Error
	if !errors.As(err, &e) || a.main != "" {
		return err
	}
	of, name, is := strings.Cut(e.Text, "unknown controller ")
	if !is || strings.Contains(name, "did you mean") {
		return err
	}
	known := *e
	if command := a.keptBy(e.File); command != "" {
		name, _, _ = strings.Cut(name, ";")
		known.Text = of + "unknown controller " + name + "; replay it with " + command
	} else {
		known.Text += "; for an operator's own main package, add --main PACKAGE"
	}
	return &known
}

// keptBy returns the replay command of a kept failure, or "" for other files. The path of a kept failure is
// testdata/threelaws/DIR/FILE. DIR is KIND-CASE, or begins with the name of a Go test.
func (a *app) keptBy(path string) string {
	dir := filepath.Dir(path)
	root := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	if filepath.Join(root, "testdata", "threelaws") != filepath.Dir(dir) {
		return ""
	}
	test, _, _ := strings.Cut(filepath.Base(dir), "-")
	if !strings.HasPrefix(test, "Test") && !strings.HasPrefix(test, "Fuzz") {
		return a.name + " check --replay " + argument(path)
	}
	in := filepath.ToSlash(root)
	if !filepath.IsAbs(root) && in != "." {
		in = "./" + in
	}
	file := filepath.Join("testdata", "threelaws", filepath.Base(dir), filepath.Base(path))
	return "go test " + argument(in) + " -run " + argument("^"+test+"$") + " -threelaws.replay=" + argument(file)
}

// inspect finds the first failure in a step that the file marks with "!". A refused request is not a failure.
func (r *replayed) inspect(run *scenarios.Run) {
	failures := run.Failures()
	i := slices.IndexFunc(failures, func(f scenarios.Failure) bool { return f.Expected() })
	if i < 0 {
		return
	}
	f := &failures[i]
	r.Reproduced, r.Law, r.ExitCode, r.Page = true, f.Violation.Law, f.Code, run.Page(f)
}

func (r *replayed) text(width int) string {
	text := ""
	if r.Page != nil {
		text = r.Page.Wide(width) + "\n"
	}
	for _, e := range r.Errors {
		text += e.Error() + "\n"
	}
	switch {
	case r.Reproduced:
		text += "reproduced: " + r.wording()
	case r.Law != "":
		text += r.wording() + ", which the file does not expect"
	case len(r.Errors) > 0:
		text += "not as recorded"
		if r.elsewhere != "" {
			text += "; replay it with " + r.elsewhere
		}
	default:
		text += "no law is violated"
	}
	return fmt.Sprintf("%s; hash %s, twice\n", text, r.Hash)
}

// wording describes the failure. If an expectation of the file does not hold, r.Law is the expectation's verb.
func (r *replayed) wording() string {
	switch {
	case r.ExitCode == scenarios.ExitNotSettled:
		return "the world does not settle"
	case scenarios.FindVerb(r.Law) != nil:
		return "an expectation does not hold"
	}
	return r.Law + " is violated"
}
