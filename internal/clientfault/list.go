// Package clientfault decides which requests and watches of a server's clients fail, and how. The command "threelaws
// serve" uses it in real time for programs that it does not run itself.
//
// A fault is requested by a line in the syntax of scenario files ([Grammar]). A [List] holds the requested faults. The
// server passes to the list each request before its execution ([List.Strike]), and each watch that opens ([List.Open]).
// The list decides which fault strikes, and the server executes the fault. The list knows no connections and no time.
package clientfault

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/fakeapi"
)

// most is the maximal number of faults in a list.
const most = 1000

// List holds the requested faults. The zero value is empty. A List may be used by several goroutines.
type List struct {
	// Tell, if it is not nil, is called for each fault that strikes, before clients see the effect. The first argument
	// is the fault's line, the second describes the effect and the client. Tell must not call methods of the list.
	Tell func(line, what string)

	mu      sync.Mutex
	rules   []*rule
	last    int // ID of the last rule
	streams []*Stream
}

// Shown is a fault in the form in which it is displayed.
type Shown struct {
	ID     int    `json:"id"`
	Line   string `json:"line"`
	Struck int    `json:"struck"` // how often it has struck
	Over   bool   `json:"over"`   // it has struck, and cannot strike again
}

// Strike is the combined effect of the faults on one request.
type Strike struct {
	Delay   time.Duration          // the waiting time before the execution
	Err     *apierrors.StatusError // the response; nil for the server's own response
	Commits bool                   // the request is executed although Err is returned, unless the server refuses it
	Lost    bool                   // after the execution, the connection is closed without a response
}

// Apply executes lines, which add faults or resume paused watches. It returns the added and the removed faults. If a
// line is wrong, Apply executes nothing, and returns the line's index and the error.
func (l *List) Apply(kinds Kinds, lines ...string) (done []Shown, wrong int, err error) {
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

// possible returns the index and the error of the first line that cannot be executed after the lines before it.
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
			return i, fmt.Errorf("%s: there are already %d faults, the limit; remove some", r.verb, most)
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

// released lists the hold faults that a release ends: the faults with the same client pattern, or all faults for the
// pattern *. If the release names a kind, only faults on this kind end.
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
		return nil, fmt.Errorf("release: no watch of %s by %s is held", by.resource, by.who)
	case len(gone) == 0:
		return nil, fmt.Errorf("release: no watch by %s is held%s", by.who, suggest(by.who, held))
	}
	return gone, nil
}

// Remove removes the fault with this ID, or all faults for 0. Paused watches resume if no other fault pauses them.
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

// All lists the faults in the order in which they were requested.
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

// String formats a fault: its ID, its line, and how often it has struck.
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

// Strike returns the effect of the faults on a request or on the opening of a watch; nil means no fault. The server
// calls it before it executes the request. If several faults would make the request fail, only the first one does. The
// request counts for every matching fault.
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

// add adds the effect of one rule, and describes the effect: "update pods t/web-1 of operator waits 2s".
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

// Stream is an open watch. The list decides whether it is paused or expired. The server checks this before each event.
type Stream struct {
	list     *List
	deed     *deed
	resource string
	held     bool
	expired  bool
	changed  chan struct{}
}

// Open adds a watch to the list. A nil list returns a nil stream, which is never paused.
func (l *List) Open(req *fakeapi.Request) *Stream {
	if l == nil {
		return nil
	}
	s := &Stream{list: l, deed: deedOf(req, true), resource: req.Kind.Resource, changed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = append(l.streams, s)
	for _, r := range l.rules {
		if !r.spent() {
			l.meet(s, r)
		}
	}
	return s
}

// meet applies a rule to a watch, if the rule is about this watch.
func (l *List) meet(s *Stream, r *rule) {
	if r.verb != hold && r.verb != relist || !r.about(s.deed) {
		return
	}
	of := "the watch of " + s.resource + " of " + strings.Join(s.deed.who, ", ")
	switch {
	case r.verb == hold:
		r.struck++
		l.tell(r, of+" is held")
		if !s.held {
			s.held = true
			s.wake()
		}
	case !s.expired:
		r.struck++
		l.tell(r, of+" ends with 410 Expired")
		s.expired = true
		s.wake()
	}
}

// refresh resumes the watches that no hold fault pauses any more.
func (l *List) refresh() {
	for _, s := range l.streams {
		if s.held && !slices.ContainsFunc(l.rules, func(r *rule) bool { return r.verb == hold && r.about(s.deed) }) {
			s.held = false
			s.wake()
		}
	}
}

func (s *Stream) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// State returns whether the watch is paused, and whether it has expired. An expired watch is not reported as paused.
// changed is closed when the state changes.
func (s *Stream) State() (held, expired bool, changed <-chan struct{}) {
	if s == nil {
		return false, false, nil
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	return s.held && !s.expired, s.expired, s.changed
}

// Close removes the watch from the list. It may be called several times.
func (s *Stream) Close() {
	if s == nil {
		return
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	if i := slices.Index(s.list.streams, s); i >= 0 {
		s.list.streams = slices.Delete(s.list.streams, i, i+1)
	}
}
