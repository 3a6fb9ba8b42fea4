package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/law"
)

// replayKept replays the failure file in --replay, if the file belongs to this sample.
func (c *checking) replayKept(s *sampleTried) error {
	for i := range s.plan.Cases {
		one := &s.plan.Cases[i]
		if one.Skip != "" || filepath.Base(s.home(one.Name)) != filepath.Base(filepath.Dir(c.replay)) {
			continue
		}
		j := caseJSON{Name: one.Name, Schedules: 1}
		r := kept.Replay(one.World(nil).Registry(), c.replay)
		for _, e := range r.Errors {
			j.fail(e.Error(), e.Code)
		}
		switch {
		case r.Page != nil:
			b := r.Page.Violation
			j.Failed = 1
			c.tell(s, &j, &scenarios.Counterexample{Law: b.Law, Text: b.Text, Small: "kept earlier", Page: r.Page}, c.replay)
			c.say("%s", j.pages)
		case r.Unfit:
			c.say("%s does not fit any more: the operator acts differently; check without --replay explores "+
				"again\n", c.replay)
		case len(r.Errors) == 0:
			c.say("%s does not fail any more\n", c.replay)
		}
		for _, text := range j.Errors {
			fmt.Fprintln(c.err, text)
		}
		s.Cases = append(s.Cases, j)
		c.code = worse(c.code, j.ExitCode)
		c.report.Samples = append(c.report.Samples, s)
		return c.add(c.app, c.caseChecked(s, &j))
	}
	return nil
}

// stillFails replays the failure files of a case. It returns the failures that still happen and are not accepted.
func (c *checking) stillFails(s *sampleTried, j *caseJSON, world *casefile.Case) *scenarios.Exploration {
	var x *scenarios.Exploration
	for _, path := range kept.Files(s.home(j.Name)) {
		if c.Test != "" && world.Settled == nil && judgedByTest(path) {
			continue // the failure was kept by another test in the package
		}
		r := kept.Replay(world.Registry(), path)
		for _, e := range r.Errors {
			j.fail(e.Error(), scenarios.ExitUsage)
		}
		if r.Page == nil || r.Other != "" {
			continue // a minimized world may violate another law that the case itself keeps: see kept.Replayed
		}
		b := r.Page.Violation
		f := &scenarios.Counterexample{Law: b.Law, Text: b.Text, Small: "kept earlier, and still happens", Page: r.Page}
		if acceptedAs(c.Accept, j.Name, f) != nil {
			continue // if the accepted failure happens again, the exploration reports it
		}
		if x == nil {
			x = &scenarios.Exploration{Stopped: "a kept failure still happens"}
		}
		x.Failures = append(x.Failures, f)
		c.tell(s, j, f, path)
	}
	return x
}

// again returns the command that replays a failure's file of this sample.
func (c *checking) again(sample, path string) string {
	command := c.name + " check"
	if c.Package != "" {
		command += " " + argument(c.Package)
	}
	if c.Test != "" { // a test does not read threelaws.yaml
		command += " --test " + argument(c.Test)
		for i, values := range [][]string{c.CRDs, c.Samples, c.With} {
			for _, v := range values {
				command += []string{" --crds ", " --sample ", " --with "}[i] + argument(v)
			}
		}
	} else {
		command += c.selects
	}
	if c.replaced[sample] {
		command += " --sample " + argument(sample)
	}
	return command + " --replay " + path
}

// tell prints a failure. path is the failure's file, or "" if it could not be written.
func (c *checking) tell(s *sampleTried, j *caseJSON, f *scenarios.Counterexample, path string) {
	f.Page.Title = s.label(j.Name)
	if path != "" {
		f.Page.Replay = c.again(s.Sample, argument(path))
		if c.Test != "" { // the test replays all failure files first
			f.Page.Replay = "go test -run " + argument(pattern(c.Test)) + " " + argument(cmp.Or(c.Package, "."))
		}
		if err := kept.Leave(path, f.Page, f.Found); err != nil {
			j.Errors = append(j.Errors, fmt.Sprintf("%s: no page was written: %v", j.Name, err))
		}
	}
	code := scenarios.ExitFail
	if f.Law == law.ByID(law.AlwaysSettles).Name {
		code = scenarios.ExitNotSettled
	}
	j.ExitCode = worse(j.ExitCode, code)
	j.Failures = append(j.Failures, failureJSON{f, path})
	show := f.Page.Wide
	if c.verbose {
		show = f.Page.Whole
	}
	if f.Law == neverPanic {
		at := f.Text[max(0, strings.LastIndex(f.Text, ", at ")):]
		if first := s.panics[at]; first != "" && !c.verbose {
			j.pages += fmt.Sprintf("--- FAIL: %s\n    %s violated as in %s: %s\n    replay: %s\n\n", f.Page.Title, f.Law, first, f.Text,
				f.Page.Replay)
			return
		}
		s.panics[at] = j.Name
	}
	j.pages += show(c.width) + "\n"
}

var neverPanic = law.ByID("EXACT-7b").Name
