package law

import "github.com/threelaws/threelaws/sim"

// opSet is a set of record operations.
type opSet uint16

func ops(list ...sim.Op) opSet {
	var s opSet
	for _, o := range list {
		s |= 1 << o
	}
	return s
}

// Wants implements [Selective].
func (s opSet) Wants(op sim.Op) bool { return s&(1<<op) != 0 }

// pure is a check without a memory of its own.
type pure struct {
	opSet
	j *Judge
	f func(j *Judge, r *sim.Record)
}

func (p *pure) Record(r *sim.Record) { p.f(p.j, r) }
func (p *pure) Reset()               {}

// on makes the New of a law whose check is one function of the judge and the
// record.
func on(f func(j *Judge, r *sim.Record), list ...sim.Op) func(*Judge) Check {
	set := ops(list...)
	return func(j *Judge) Check { return &pure{set, j, f} }
}
