package cli

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/conform"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// trackReport is what track prints with --json.
type trackReport struct {
	Bugs     []bugJSON `json:"bugs"`
	Seeds    int       `json:"seeds"`
	ExitCode int       `json:"exitCode"`
}

// bugJSON is one bug and how it was found.
type bugJSON struct {
	ID        string  `json:"id"`
	URL       string  `json:"url"`
	Open      bool    `json:"open"`
	File      string  `json:"file"`
	Mutant    string  `json:"mutant,omitempty"` // that has it; left out where the file's own controllers do
	Law       string  `json:"law"`
	Steps     int     `json:"steps"`
	Found     int     `json:"found"`     // seeds by which it was
	Schedules int     `json:"schedules"` // the median
	Seconds   float64 `json:"seconds"`   // the median
}

func trackCommand(a *app) *cobra.Command {
	seeds, out, dir := 30, "", defaultDir
	cmd := &cobra.Command{
		Use:   "track [flags] [BUG...]",
		Short: "measure how soon known bugs are found",
		Long: `A scenario file that has a known bug says so in a comment, "# bug ID URL", with "open"
behind it for one that nobody has mended. For each, or those that are named, explores the
file's world with the mutant of its first step mutant, or as its first "! explore" says,
once for each seed until the bug shows, and makes it small. Prints the law that is
broken, how many steps the small run has, and the medians of how many schedules and how
much time it took. The exit code is 1 where a bug is not found.`,
		Example: "  threelaws track\n  threelaws track --seeds 5 B01",
		RunE: func(cmd *cobra.Command, args []string) error {
			if seeds < 1 {
				return usage("--seeds=%d: at least 1", seeds)
			}
			bugs, err := a.bugs(dir, args)
			if err != nil {
				return err
			}
			return track(cmd.Context(), a, bugs, seeds, out)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&seeds, "seeds", seeds, "by how many seeds each is looked for")
	fl.StringVar(&out, "out", "", "write a page of Markdown")
	fl.StringVar(&dir, "dir", dir, "where the scenarios are; in the program where there is no such directory")
	complete(cmd, "dir", completeDirs)
	return cmd
}

// bugs reads the files that have known bugs; those of some ids, all without any.
func (a *app) bugs(dir string, ids []string) ([]*conform.Bug, error) {
	names, err := a.below(dir)
	if err != nil {
		return nil, err
	}
	var files []*scenarios.File
	for _, name := range names {
		f, err := a.load(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	all, err := conform.Bugs(files)
	if err != nil || len(ids) == 0 {
		return all, err
	}
	var chosen []*conform.Bug
	for _, id := range ids {
		n := len(chosen)
		for _, b := range all {
			if strings.EqualFold(b.ID, id) {
				chosen = append(chosen, b)
			}
		}
		if len(chosen) == n {
			return nil, usage("track: no file has the bug %s", id)
		}
	}
	return chosen, nil
}

// track measures bugs and prints them as they are found.
func track(ctx context.Context, a *app, bugs []*conform.Bug, seeds int, out string) error {
	rep := trackReport{Bugs: []bugJSON{}, Seeds: seeds}
	line := a.progress()
	for i, b := range bugs {
		line.show("%d of %d bugs: %s", i, len(bugs), b.ID)
		err := b.Shorten(ctx, a.registry)
		if err == nil {
			err = b.Measure(ctx, a.registry, seeds)
		}
		line.clear()
		if ctx.Err() != nil {
			a.code = worse(a.code, exitInterrupted)
			return nil
		}
		if err != nil {
			return &scenarios.Error{File: b.File.Name, Text: err.Error(), Code: scenarios.ExitFail}
		}
		rep.Bugs = append(rep.Bugs, bugJSON{ID: b.ID, URL: b.URL, Open: b.Open, File: b.File.Name, Mutant: b.By,
			Law: b.Law, Steps: b.Steps, Found: b.Found, Schedules: b.Schedules, Seconds: b.Took.Seconds()})
		if !a.json {
			t := render.Table{Width: a.width, Max: []int{4, 44, 28}}
			t.Add(b.ID, titleOf(b.File.Name), b.Law, plural(b.Steps, "step")+", "+plural(b.Schedules, "schedule")+", "+
				b.Took.Round(time.Millisecond).String()+", by "+strconv.Itoa(b.Found)+" of "+plural(seeds, "seed"))
			a.print(t.String())
		}
	}
	if out != "" && len(bugs) > 0 {
		page, _ := conform.TrackPage(bugs, seeds, "")
		if err := os.WriteFile(out, page, 0o644); err != nil {
			return usage("--out: %v", err)
		}
	}
	rep.ExitCode = a.code
	if a.json {
		return a.encode(rep)
	}
	return nil
}
