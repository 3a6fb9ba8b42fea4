package scenarios

import (
	"errors"

	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// checkUIDs checks the objects whose uids a text has; it returns what is wrong.
func checkUIDs(in servers, s *Step, text []byte) error {
	_, err := manifest.ReplaceUIDs(text, func(expr, object string) (string, error) {
		_, err := parseTarget(in, s, object)
		return "", uidError(s, expr, err)
	})
	return err
}

// uidError is a mistake within $(uid ...).
func uidError(s *Step, expr string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return s.wrong("%s: %s", expr, e.Text)
	}
	return err
}

// uid is what an expression $(uid ...) stands for now.
func (r *Run) uid(expr, object string) (string, error) {
	t, err := r.target(object)
	if err != nil {
		return "", uidError(r.at(), expr, err)
	}
	o := r.lookup(t)
	if o == nil {
		return "", r.errorf("%s: there is no %s%s", expr, object, suggest(object, r.named(t)))
	}
	return string(o.GetUID()), nil
}
