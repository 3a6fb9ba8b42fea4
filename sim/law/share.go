package law

// Share is what a law has to say of one controller: one that breaks nothing and was
// never asked has not been seen to keep it.
type Share struct {
	Controller string // its name, of all its processes
	Asked      int    // how often what the law is about came up with it
	Broken     int    // breaches of Informed strength
}

// share is what the law of a seat has to say of a process.
func (p *process) share(seat int) *Share {
	for len(p.shares) <= seat {
		p.shares = append(p.shares, Share{Controller: p.Actor.Controller})
	}
	return &p.shares[seat]
}
