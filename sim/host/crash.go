package host

import "fmt"

// Crash kills the process immediately. A pending request is never executed, and the response to an executed request is
// lost. A crash of a manager's member is a crash of the manager. If comeBack is set, the process offers its restart as
// an action. Otherwise the process stays down until [Process.Restart].
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
	p.restarts, p.touched = comeBack, true
	p.cluster.fact(p, "crash", detail)
}

// kill ends the process's workers and timers. It returns a description of a request that was pending, or "".
func (p *Process) kill() (detail string) {
	if p.engine != nil {
		detail = p.engine.kill()
	}
	for _, w := range p.workers {
		switch w.state {
		case asking:
			detail = "before " + string(w.req.Verb) + " " + w.req.Name
		case answered:
			detail = "after " + string(w.req.Verb) + " " + w.req.Name
		}
		if w.concurrentSync != nil {
			detail = about(w.concurrentSync.calls)
			w.concurrentSync.program.Kill()
			w.concurrentSync = nil
		}
		w.stop()
		w.state = idle
	}
	p.Down, p.restarts, p.touched = true, false, true
	p.cluster.world.Clock.StopAll(p.Name)
	return detail
}

// Restart starts a new incarnation of a process. A running process crashes first. The parameter from is the revision of
// the new incarnation's initial lists; 0 means the latest. An older revision models a lagging API server.
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

// Switch restarts the process with another era of its controller, as in an upgrade or a downgrade.
func (p *Process) Switch(ctl Controller) {
	p.Crash(false)
	p.controller = ctl
	p.Incarnation++
	p.start()
	p.cluster.fact(p, "switch", ctl.Era)
}

// A controller manager is a process that takes part in an election. Its members are processes that run only while it
// leads. A crash of a member is a crash of the manager and of all its members.

// Member is a controller that a manager runs, and the name of its process.
type Member struct {
	Name       string
	Controller Controller

	_ struct{}
}

// StartManager starts a manager. elector returns a controller that takes part in the leader election. The reconcile of
// that controller calls lead(true) when the manager has become the leader, and lead(false) when the manager has lost
// the leadership. Before lead(true), the members stand by.
func (c *Cluster) StartManager(name string, elector func(lead func(bool)) Controller, members []Member) *Process {
	var manager *Process
	manager = c.Start(name, elector(func(on bool) { manager.lead(on) }))
	for _, m := range members {
		if c.Process(m.Name) != nil {
			panic(Misuse("a process named " + m.Name + " runs already"))
		}
		if err := m.Controller.Check(); err != nil {
			panic(Misuse(err.Error()))
		}
		p := &Process{Name: m.Name, Era: m.Controller.Era, Down: true, StandsBy: true, cluster: c,
			controller: m.Controller, manager: manager}
		c.processes = append(c.processes, p)
		c.world.Add(actor{p})
		manager.members = append(manager.members, p)
		c.fact(p, "stop", "stands by")
	}
	return manager
}

// Members returns the processes that run only while this process leads.
func (p *Process) Members() []*Process { return p.members }

// Manager returns the manager that runs the process as a member, or nil.
func (p *Process) Manager() *Process { return p.manager }

func (p *Process) lead(on bool) {
	for _, m := range p.members {
		switch {
		case on && m.Down:
			m.StandsBy = false
			m.Incarnation++
			m.start()
			p.cluster.fact(m, "restart", p.Name+" leads")
		case !on:
			m.standBy(p.Name + " does not lead any more")
		}
	}
}

func (p *Process) standBy(why string) {
	if p.Down {
		return
	}
	p.kill()
	p.StandsBy = true
	p.cluster.fact(p, "stop", why)
}

// SwitchMembers gives each member of a manager another controller, in the order of [Process.Members]. The manager
// restarts and takes part in the election again.
func (p *Process) SwitchMembers(programs []Controller) {
	p.Crash(false)
	for i, m := range p.members {
		m.controller, m.Era = programs[i], programs[i].Era
	}
	p.Incarnation++
	p.start()
	p.cluster.fact(p, "switch", programs[0].Era)
}
