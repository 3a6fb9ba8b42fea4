package sim

import (
	"cmp"
	"slices"
	"time"
)

// Epoch is the virtual time at which every world starts.
var Epoch = time.Date(2017, time.March, 1, 0, 0, 0, 0, time.UTC)

// Clock is virtual time. It moves only when a timer fires, or in a call of Advance or Reach. Nothing in a world may
// read another clock.
type Clock struct {
	// Horizon is a time since Epoch. While another action is possible, no timer moves the clock beyond it. So a call of
	// Settle in package trial stays within its end time. 0 means no limit.
	Horizon time.Duration

	// Beside, if set, advances a second clock together with this one. The parameter to is the time to reach, since
	// Epoch. If an event happens on the second clock earlier, that clock stops there. Beside returns the time that it
	// has reached.
	Beside func(to time.Duration) time.Duration

	// Passed, if set, is called after each call of Beside. A long time is divided into several calls.
	Passed func()

	elapsed time.Duration
	seq     uint64
	timers  []*Alarm // sorted, see compareAlarms
}

// Alarm is a pending timer.
type Alarm struct {
	At    time.Duration // since Epoch
	Owner string        // the process whose crash cancels it; "" for none
	Label string        // what happens; the same in every run
	Fire  func()

	seq uint64
}

// Now returns the virtual time of day.
func (c *Clock) Now() time.Time { return Epoch.Add(c.elapsed) }

// Elapsed returns the virtual time since the start of the world.
func (c *Clock) Elapsed() time.Duration { return c.elapsed }

// After sets an alarm that calls fire after d, in its own step. Owner and label name it. A negative d counts as 0.
func (c *Clock) After(d time.Duration, owner, label string, fire func()) *Alarm {
	c.seq++
	a := &Alarm{At: c.elapsed + max(d, 0), Owner: owner, Label: label, Fire: fire, seq: c.seq}
	i, _ := slices.BinarySearchFunc(c.timers, a, compareAlarms)
	c.timers = slices.Insert(c.timers, i, a)
	return a
}

// compareAlarms orders alarms by time, then by key. So the order in which processes set alarms makes no difference.
func compareAlarms(a, b *Alarm) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Label, b.Label),
		cmp.Compare(a.seq, b.seq))
}

// Stop cancels an alarm. It reports whether the alarm was pending.
func (c *Clock) Stop(a *Alarm) bool {
	i := slices.Index(c.timers, a)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	return true
}

// StopAll cancels every alarm of an owner, for example because its process crashed.
func (c *Clock) StopAll(owner string) {
	c.timers = slices.DeleteFunc(c.timers, func(a *Alarm) bool { return a.Owner == owner })
}

// Pending lists the timers, earliest first. The caller must not change the list.
func (c *Clock) Pending() []*Alarm { return c.timers }

// Advance moves the clock by d, but fires no timer. Timers that become due fire in later steps.
func (c *Clock) Advance(d time.Duration) {
	for to := c.elapsed + max(d, 0); !c.Reach(to); {
	}
}

// Reach moves the clock to a time since Epoch, like [Clock.Advance]. If an event happens earlier on the clock of
// Beside, Reach stops there and returns false.
func (c *Clock) Reach(to time.Duration) bool {
	if c.Beside == nil {
		c.elapsed = max(to, c.elapsed)
	}
	for c.elapsed < to {
		next := min(to, c.elapsed+stride)
		came := c.Beside(next)
		c.elapsed = min(next, max(came, c.elapsed))
		if c.Passed != nil {
			c.Passed()
		}
		if came < next {
			return false
		}
	}
	return true
}

// stride is the longest time of a call of Beside. A program that polls may need minutes of real time for a day, but a
// program that needs too long for one call counts as one that hangs.
const stride = 10 * time.Minute

// due returns how many timers can fire next. These are the overdue timers, or if there are none, the earliest timers.
func (c *Clock) due() int {
	n := 0
	for n < len(c.timers) && (c.timers[n].At == c.timers[0].At || c.timers[n].At <= c.elapsed) {
		n++
	}
	return n
}

// within reports whether the timers due next lie within the horizon.
func (c *Clock) within() bool {
	return len(c.timers) > 0 && (c.Horizon == 0 || c.timers[0].At <= c.Horizon)
}

// Jump returns the time until the earliest timer. It is 0 if that timer is overdue, or if there is no timer.
func (c *Clock) Jump() time.Duration {
	if len(c.timers) == 0 {
		return 0
	}
	return max(0, c.timers[0].At-c.elapsed)
}
