package host

import "fmt"

// Crash kills the process where it stands. A pending request is never executed;
// of an executed one the response is lost. A member of a manager takes the manager
// with it. With comeBack the process is offered
// its restart as an action, otherwise it stays down until [Process.Restart].
func (p *Process) Crash(comeBack bool) {
	if p.manager != nil {
		p.manager.Crash(comeBack)
		return
	}
	if p.Down {
		return
	}
	for _, m := range p.members {
		m.standBy(p.Name + " crashes")
	}
	detail := p.kill()
	p.restarts = comeBack
	p.cluster.fact(p, "crash", detail)
}

// kill ends the process's workers and timers. It says what they were about.
func (p *Process) kill() (detail string) {
	for _, w := range p.workers {
		switch w.state {
		case asking:
			detail = "before " + string(w.req.Verb) + " " + w.req.Name
		case answered:
			detail = "after " + string(w.req.Verb) + " " + w.req.Name
		}
		w.stop()
		w.state = idle
	}
	p.Down, p.restarts = true, false
	p.cluster.world.Clock.StopAll(p.Name)
	return detail
}

// Restart starts a new incarnation of a process, crashing it first if it runs.
// Its initial lists are read at the given revision, 0 for the latest: an older
// one is what a lagging API server answers.
func (p *Process) Restart(from uint64) {
	if p.manager != nil {
		p.manager.Restart(from)
		return
	}
	p.Crash(false)
	p.Incarnation++
	p.from = from
	p.start()
	p.from = 0
	detail := ""
	if from != 0 {
		detail = fmt.Sprintf("from %d writes ago", p.cluster.server.Version()-from)
	}
	p.cluster.fact(p, "restart", detail)
}

// Switch replaces the process's program by another generation: an upgrade or a
// downgrade.
func (p *Process) Switch(ctl Controller) {
	p.Crash(false)
	p.controller = ctl
	p.Incarnation++
	p.start()
	p.cluster.fact(p, "switch", ctl.Generation)
}
