package conformance

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/host"
)

// backups creates a Secret for each Garden at each tick of a clock, up to a maximal number.
func backups(every time.Duration, most int) host.Controller {
	return reconciler("backups", gardens, living(func(a *at, owner *thing) error {
		began := owner.GetCreationTimestamp()
		tick := int(time.Since(began.Time) / every)
		if tick > most {
			return nil
		}
		a.env.Queue.AddAfter(key(owner), time.Until(began.Add(time.Duration(tick+1)*every)))
		return ignoreAlreadyExists(a.create(a.bare(owner, owner.GetName()+"-"+strconv.Itoa(tick))))
	}), secrets)
}

// fails creates a Secret at each reconcile, and then fails, because something outside of the cluster is missing. The
// Secret wakes nothing.
func fails() host.Controller {
	return reconciler("fails", gardens, living(func(a *at, owner *thing) error {
		age := a.env.Now().Sub(owner.GetCreationTimestamp().Time)
		made := object(secrets, owner.GetNamespace(), owner.GetName()+"-"+strconv.Itoa(int(age.Seconds())))
		made.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, gardens)})
		if err := ignoreAlreadyExists(a.create(made)); err != nil {
			return err
		}
		return errors.New("no such host")
	}))
}

// The world of a controller that creates an object at each tick ends after the third tick, or at the time in For. A
// world that settles by itself is not ended earlier.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		name string
		of   host.Controller
		last time.Duration
		says string // the text about the ticks; "" for none
	}{
		{"for ever", backups(time.Hour, 1_000_000), 0, "creates a Secret every 1h0m0s, for ever: a world ends after the third, at 2h24m0s"},
		{"given a time", backups(time.Hour, 1_000_000), 90 * time.Minute, "a world ends after 1h30m0s"},
		{"a retry", fails(), 0, "creates a Secret every 16m40s, for ever: a world ends after the third, at 45m11s; " +
			"this is client-go's longest retry delay: it retries after an error, see its log (-v)"},
		{"a rollout", backups(time.Minute, 5), 0, ""},
		{"a loop", backups(5*time.Second, 20), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := subjectOf(t, c.of)
			s.For = c.last
			plan := prepared(t, s)
			if c.says != "" {
				shows(t, plan, "  by clock    "+c.says+"\n")
			} else if strings.Contains(plan.String(), "by clock") {
				t.Errorf("the plan has a line about ticks:\n%s", plan)
			}
			if plan.Unsettled != "" {
				t.Errorf("the world does not settle:\n%s", plan)
			}
		})
	}
}

// If a controller acts at the ticks of a clock, work that is unfinished at the end of the world is not reported.
func TestTicksAreTried(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores all cases")
	}
	Test(t, subjectOf(t, backups(time.Hour, 1_000_000)))
}

// stamps writes the time of day into the owner's status if due returns true. It requeues the owner after next. The
// wrong operator writes it at each reconcile (kfp-operator#625).
func stamps(due func(since time.Duration) (now bool, next time.Duration)) idiom {
	return func(a *at, owner *thing) error {
		if err := applies(a, owner); err != nil {
			return err
		}
		now := a.env.Now()
		write, next := true, time.Duration(0)
		if at, err := time.Parse(time.RFC3339, stringAt(owner, "status", "seen")); err == nil {
			write, next = due(now.Sub(at))
		}
		if next > 0 {
			a.env.Queue.AddAfter(key(owner), next)
		}
		if !write {
			return nil
		}
		return a.reports(owner, "seen", metav1.NewTime(now).UTC().Format(time.RFC3339))
	}
}

// recreates tries to create its dependents every second, without a look whether they exist. While each write takes a second
// or two, it is never idle.
func recreates(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if err := ignoreAlreadyExists(a.create(a.dependent(owner, name))); err != nil {
			return err
		}
	}
	a.env.Queue.AddAfter(key(owner), time.Second)
	return a.prune(owner)
}

// expires deletes its owner one hour after its creation.
func expires(a *at, owner *thing) error {
	if left := time.Hour - a.env.Now().Sub(owner.GetCreationTimestamp().Time); left > 0 {
		a.env.Queue.AddAfter(key(owner), left)
		return applies(a, owner)
	}
	return a.remove(owner)
}

// endsItself creates a dependent, and deletes its owner after a time.
func endsItself(after time.Duration) idiom {
	return func(a *at, owner *thing) error {
		left := after - a.env.Now().Sub(owner.GetCreationTimestamp().Time)
		if left > 0 {
			a.env.Queue.AddAfter(key(owner), left)
		}
		if left > 0 || len(a.own(owner)) == 0 {
			return a.ensure(owner, a.dependent(owner, owner.GetName()))
		}
		return a.remove(owner)
	}
}

// If a controller deletes its own sample, the world of a case ends before. If it does so at once, no case is tried.
func TestSampleThatDeletesItself(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores all cases")
	}
	later := subjectOf(t, by(endsItself(time.Minute))...)
	shows(t, prepared(t, later), "  by clock    deletes garden/sample after 1m0s: a world ends before, at 12s\n")
	Test(t, later)
	atOnce := subjectOf(t, by(endsItself(0))...)
	Test(t, atOnce)
	for _, c := range prepared(t, atOnce).Cases {
		if !strings.Contains(c.Skip, "it deletes its own sample, garden/sample, at once: give a sample that it keeps") {
			t.Errorf("%s: %s", c.Name, c.Skip)
		}
	}
}

// If a controller writes the time of day at each reconcile, its own write enqueues it again. If time passes in
// between, it never settles. Heartbeats, renewals and times to live settle, because a timer triggers them.
func TestTimePasses(t *testing.T) {
	every := func(d time.Duration) func(time.Duration) (bool, time.Duration) {
		return func(since time.Duration) (bool, time.Duration) {
			if since >= d {
				return true, d
			}
			return false, d - since
		}
	}
	for _, x := range []struct {
		name string
		idiom
		law string
	}{
		{"each time", stamps(func(time.Duration) (bool, time.Duration) { return true, 0 }), "never-fight"},
		{"once", stamps(func(time.Duration) (bool, time.Duration) { return false, 0 }), ""},
		{"heartbeat", stamps(every(20 * time.Minute)), ""},
		{"renewal", stamps(every(12 * time.Hour)), ""},
		{"ttl", expires, ""},
	} {
		t.Run(x.name, func(t *testing.T) { finds(t, prepared(t, subjectOf(t, by(x.idiom)...)), "faults", x.law) })
	}
}

// A slow fault ends, so that an operator that polls is idle between two polls.
func TestSlowEnds(t *testing.T) {
	c := placed(t, prepared(t, subjectOf(t, by(recreates)...)), "faults")
	c.Faults, c.User, c.Schedules = map[string]int{"slow": 1}, nil, 20
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil || len(x.Failures) > 0 {
		t.Errorf("%v\n%s", err, x.Text())
	}
}

// The same bug is found in a whole program.
func TestTimePassesInPrograms(t *testing.T) {
	c := placed(t, prepared(t, whole(false, wrong{stamps: true})), "faults")
	c.Faults, c.User, c.Schedules = map[string]int{"slow": 1}, nil, 5
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Failures) == 0 || x.Failures[0].Law != "never-fight" {
		t.Errorf("not found\n%s", x.Text())
	}
}
