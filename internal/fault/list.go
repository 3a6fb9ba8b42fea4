package fault

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/fakeapi"
)

// most limits the faults of a list.
const most = 1000

// List holds the requested faults. The zero value is empty. Several goroutines may use it concurrently.
type List struct {
	// Tell, if set, is called for each fault that strikes, before its effect is visible: with its line, and what it
	// does to whom. It may not use the list.
	Tell func(line, what string)

	mu      sync.Mutex
	rules   []*rule
	last    int // the number of the last rule
	streams []*Stream
}

// Shown is one fault of a list, for display.
type Shown struct {
	ID     int    `json:"id"`
	Line   string `json:"line"`
	Struck int    `json:"struck"` // how often
	Over   bool   `json:"over"`   // it strikes no more
}

// Strike is the effect of the faults on one request.
type Strike struct {
	Delay   time.Duration          // before execution
	Err     *apierrors.StatusError // the answer; nil for the server's own
	Commits bool                   // the request is executed anyway; a refusal by the server is returned
	Lost    bool                   // the connection is closed without an answer
}

// Ask executes lines: it adds faults, and resumes paused watches. It returns both. If one line is wrong, nothing is
// done, and the error is about the line with index wrong.
func (l *List) Ask(kinds Kinds, lines ...string) (done []Shown, wrong int, err error) {
	asked := make([]*rule, len(lines))
	for i, line := range lines {
		if asked[i], err = parse(kinds, line); err != nil {
			return nil, i, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if wrong, err = possible(l.rules, asked); err != nil {
		return nil, wrong, err
	}
	for _, r := range asked {
		done = append(done, l.do(r)...)
	}
	return done, 0, nil
}

// possible finds the first line that is impossible, given the existing faults and the earlier lines.
func possible(rules, asked []*rule) (wrong int, err error) {
	rules = slices.Clone(rules)
	for i, r := range asked {
		switch {
		case r.verb == release:
			gone, err := released(rules, r)
			if err != nil {
				return i, err
			}
			rules = slices.DeleteFunc(rules, func(r *rule) bool { return slices.Contains(gone, r) })
		case len(rules) >= most:
			return i, fmt.Errorf("%s: there can be %d faults, and no more; remove some", r.verb, most)
		default:
			rules = append(rules, r)
		}
	}
	return 0, nil
}

// do executes a valid line.
func (l *List) do(r *rule) (done []Shown) {
	if r.verb == release {
		gone, _ := released(l.rules, r)
		for _, g := range gone {
			done = append(done, g.shown())
		}
		l.rules = slices.DeleteFunc(l.rules, func(r *rule) bool { return slices.Contains(gone, r) })
		l.refresh()
		return done
	}
	l.last++
	r.id = l.last
	l.rules = append(l.rules, r)
	for _, s := range l.streams {
		l.meet(s, r)
	}
	return []Shown{r.shown()}
}

// released lists the holds that a release ends: those with the same pattern of names; * is all.
func released(rules []*rule, by *rule) (gone []*rule, err error) {
	var held []string
	for _, r := range rules {
		if r.verb != hold {
			continue
		}
		held = append(held, r.who)
		if (by.who == "*" || by.who == r.who) && (by.resource == "" || by.resource == r.resource) {
			gone = append(gone, r)
		}
	}
	switch {
	case len(held) == 0:
		return nil, fmt.Errorf("release: nothing is held")
	case len(gone) == 0 && slices.Contains(held, by.who):
		return nil, fmt.Errorf("release: %s is not held of %s", by.resource, by.who)
	case len(gone) == 0:
		return nil, fmt.Errorf("release: nothing is held of %s%s", by.who, suggest(by.who, held))
	}
	return gone, nil
}

// Remove removes a fault by its number; 0 for all. Watches that it paused resume.
func (l *List) Remove(id int) ([]Shown, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var gone []Shown
	l.rules = slices.DeleteFunc(l.rules, func(r *rule) bool {
		if id != 0 && r.id != id {
			return false
		}
		gone = append(gone, r.shown())
		return true
	})
	if id != 0 && len(gone) == 0 {
		return nil, fmt.Errorf("there is no fault %d", id)
	}
	l.refresh()
	return gone, nil
}

// All lists the faults in the order of their requests.
func (l *List) All() []Shown {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Shown, 0, len(l.rules))
	for _, r := range l.rules {
		all = append(all, r.shown())
	}
	return all
}

func (r *rule) shown() Shown {
	return Shown{ID: r.id, Line: r.String(), Struck: r.struck, Over: r.spent()}
}

// String formats the fault: its number, its line, and how often it struck.
func (s Shown) String() string {
	struck := "never struck"
	switch {
	case s.Struck == 1:
		struck = "struck once"
	case s.Struck > 1:
		struck = fmt.Sprintf("struck %d times", s.Struck)
	}
	if s.Over {
		struck += ", over"
	}
	return fmt.Sprintf("%3d  %s  (%s)", s.ID, s.Line, struck)
}

// Strike is called with each request before it is executed, and with each watch before it is opened. nil means no
// fault. If several faults make the request fail, the first one does; all of them count it.
func (l *List) Strike(req *fakeapi.Request, isWatch bool) *Strike {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var s *Strike
	var d *deed
	for _, r := range l.rules {
		if r.verb == hold || r.verb == relist {
			continue
		}
		if d == nil {
			d = deedOf(req, isWatch)
		}
		if !r.fits(d, req) {
			continue
		}
		if r.seen++; r.nth != 0 && r.seen != r.nth || s != nil && s.Err != nil && r.with != nil {
			continue
		}
		if s == nil {
			s = &Strike{}
		}
		r.struck++
		l.tell(r, s.add(r, req, d))
	}
	return s
}

// add applies one rule, and describes its effect.
func (s *Strike) add(r *rule, req *fakeapi.Request, d *deed) (what string) {
	what = d.String(req.Kind.Resource) + " of " + strings.Join(d.who, ", ")
	if r.with == nil {
		s.Delay += r.by
		return what + " waits " + r.by.String()
	}
	s.Err, s.Commits, s.Lost = r.with.status(req), r.with.commits, r.with.lost
	switch {
	case s.Lost:
		return what + " is executed, and the connection closed without an answer"
	case s.Commits:
		return fmt.Sprintf("%s is executed, and answered %d", what, r.with.code)
	}
	return fmt.Sprintf("%s is not executed, and answered %d", what, r.with.code)
}

func (l *List) tell(r *rule, what string) {
	if l.Tell != nil {
		l.Tell(r.String(), what)
	}
}
