package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios"
)

type merging struct {
	checks
	to   string // the file for the merged result; "" for none
	out  string // the directory for the files that replay violations
	html string // the file for the page; "" for none
}

func mergeCommand(a *app) *cobra.Command {
	m := &merging{checks: checks{annotate: a.annotate}}
	cmd := &cobra.Command{
		Use:   "merge [flags] RESULT...",
		Short: "join the results of shards into one summary",
		Long: `Merges the results that "explore", "check" and tests write with --results. RESULT is a
result file or a folder of result files. Results of the same world must have the same
hash of the scenario file and the same settings, and their ranges must not overlap. If
the last record of a file is incomplete, the records before it count.

Violations of the same law with the same minimized timeline are shown once. merge prints
how often each law was violated. The result of merge can be merged again.`,
		Example: `  threelaws explore --shard 0/2 --results results FILE
  threelaws explore --shard 1/2 --results results FILE
  threelaws merge --html campaign.html results`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("merge takes result files, or folders of them")
			}
			return m.run(a, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&m.to, "output", "o", "", "write the merged result to this file")
	fl.StringVar(&m.out, "out", failuresDir, "directory for the files that replay violations")
	fl.StringVar(&m.html, "html", "", "write one page to this file")
	m.flags(cmd)
	cmd.ValidArgsFunction = completeDirs
	complete(cmd, "out", completeDirs)
	return cmd
}

func (m *merging) run(a *app, args []string) error {
	var all campaign.Merge
	for _, arg := range args {
		files := []string{arg}
		if info, err := os.Stat(arg); err != nil {
			return missing(arg, err, nil)
		} else if info.IsDir() {
			if files, err = resultsIn(arg); err != nil {
				return usage("%v", err)
			}
			if m.to != "" && filepath.Ext(m.to) == campaign.Extension && filepath.Dir(m.to) == filepath.Clean(arg) {
				return usage("-o %s: merge would read this file too, the next time: write it to another folder than %s", m.to, arg)
			}
			if len(files) == 0 {
				return usage("%s: no results: no file is named *%s", arg, campaign.Extension)
			}
		}
		for _, file := range files {
			if err := all.ReadFile(file); err != nil {
				return usage("%v", err)
			}
		}
	}
	for _, cut := range all.Cut {
		fmt.Fprintln(a.err, cut)
	}
	if len(all.Results) == 0 {
		return usage("no file has a complete record")
	}
	reports := []*merged{}
	for _, r := range all.Results {
		rep := newMerged(r)
		if err := writeViolations(m.out, rep); err != nil {
			a.complain(err)
		}
		reports = append(reports, rep)
		a.code = worse(a.code, rep.ExitCode)
		if err := m.add(a, rep.ci()); err != nil {
			return err
		}
	}
	if err := m.write("threelaws merge"); err != nil {
		return err
	}
	if m.to != "" {
		var b strings.Builder
		for _, r := range all.Results {
			if err := r.Write(&b); err != nil {
				return err
			}
		}
		if err := writeWhole(m.to, []byte(b.String())); err != nil {
			return usage("--output: %v", err)
		}
	}
	if m.html != "" {
		text, err := campaignPage(reports)
		if err == nil {
			err = writeWhole(m.html, text)
		}
		if err != nil {
			return usage("--html: %v", err)
		}
	}
	if a.json {
		return a.encode(reports)
	}
	for i, rep := range reports {
		if i > 0 {
			a.printf("\n")
		}
		a.print(rep.text())
	}
	return nil
}

// resultsIn returns the paths of the result files in a folder.
func resultsIn(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == campaign.Extension {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

func writeViolations(dir string, m *merged) error {
	for i := range m.Violations {
		v := &m.Violations[i]
		if v.file == "" {
			continue
		}
		f := &scenarios.File{Name: strings.ReplaceAll(strings.Trim(m.World, "./"), "/", "-")}
		c := &scenarios.Counterexample{Law: v.Law, File: []byte(v.file)}
		path, err := "", error(nil)
		if v.again == "" {
			path, err = writeFailure(dir, f, c)
		} else if dir, err = filepath.Abs(dir); err == nil { // the replay command may be run in another directory
			path, err = kept.Keep(filepath.Join(dir, f.Name), c)
		}
		if err != nil {
			return err
		}
		v.Written = path
	}
	return nil
}
