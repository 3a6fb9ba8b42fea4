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

// most is how many faults a list holds.
const most = 1000

// List holds the faults that were asked for. The zero value holds none. Several goroutines may
// use it at once.
type List struct {
	// Tell, if set, is told of each fault that strikes, before what it does can be seen: the
	// line that asked for it, and what it does to whom. It may not use the list.
	Tell func(line, what string)

	mu      sync.Mutex
	rules   []*rule
	last    int // the number of the rule that was added last
	streams []*Stream
}

// Shown is one fault of a list.
type Shown struct {
	ID     int    `json:"id"`
	Line   string `json:"line"`
	Struck int    `json:"struck"` // how often
	Over   bool   `json:"over"`   // it strikes no more
}

// Strike is what goes wrong with one request.
type Strike struct {
	Delay   time.Duration          // before it is executed
	Err     *apierrors.StatusError // what it is answered; nil for the server's own answer
	Commits bool                   // it is executed all the same; what the server refuses it is told
	Lost    bool                   // no answer arrives: the connection is closed
}

// Ask does what lines say: it adds faults, and releases what is held. It returns both. All is
// done, or nothing where one of them is wrong: an error says what is wrong with the line of that
// index.
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

// possible says which of the lines cannot be done with the faults that there are and what the
// lines before it leave of them.
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

// do does what a line says that is possible.
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

// released are the holds that a release ends: of whoever is named as he was named then; * is
// everybody.
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

// Remove takes a fault off the list, by its number; 0 for all. What it holds is released.
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

// All lists the faults in the order in which they were asked for.
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

// String is the fault as a line of a list: its number, what asked for it, and how often it
// struck.
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

// Strike is called with each request before it is executed, and with each watch before it is
// opened; nil is what nothing goes wrong with. Of several faults that make it fail the first one
// does; all of them count it.
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

// add lets one rule strike, and says what that does.
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
