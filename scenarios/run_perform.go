package scenarios

import (
	"errors"

	"github.com/threelaws/threelaws/internal/render"
)

// perform runs one step of the file. It returns its output, and an error if the step is wrong or has an unexpected
// result.
func (r *Run) perform(s *Step) (output string, err error) {
	r.step = s
	r.out.Reset()
	before := len(r.t.Judge.Breaches())
	err = s.verb.run(r, s)
	var no *refused
	var e *Error
	switch {
	case errors.As(err, &no):
		r.printf("%s\n", no.Error())
		if s.Expect {
			return r.out.String(), nil
		}
		return r.out.String(), s.fail(ExitFail, "%s", no.Error())
	case errors.As(err, &e) && e.Code != ExitUsage:
		r.amiss(s, e)
		if s.Expect && !e.bang {
			r.counting.accept()
			return r.out.String(), nil
		}
		return r.out.String(), err
	case err != nil:
		return r.out.String(), err
	}
	return r.out.String(), r.judge(s, before)
}

// judge compares the violations of a step with its "!".
func (r *Run) judge(s *Step, before int) error {
	first := r.counting.first(before)
	r.counting.accept()
	switch {
	case first != nil:
		r.breaks(first)
		if s.Expect {
			return nil
		}
		return s.fail(ExitFail, "%s is broken: %s", first.Law.Name, render.WithoutUIDs(first.Text))
	case s.Expect:
		return s.missed("no law was broken and nothing was refused")
	}
	return nil
}
