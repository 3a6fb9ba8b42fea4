package explore

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// instr is an instruction of a toy thread. Each variable is a separate kind, so footprints are exact.
type instr struct {
	op  string // read write lock unlock pick sleep send recv jump check
	v   string
	arg int
}

// toyWorld is a small program of threads over shared variables.
type toyWorld struct {
	threads [][]instr
	faults  int    // how often the fault may set v0 to 7
	limit   int    // the maximal number of steps in a run; 0 means 10,000
	law     string // the variable that must equal wanted at the end; "" for none
	wanted  int
	acts    func(w *sim.World, vars map[string]int) // a user action after the world has settled
	claim   bool                                    // declare all actions independent, which is wrong
}

type toyThread struct {
	w     *sim.World
	toy   *toyWorld
	vars  map[string]int
	name  string
	code  []instr
	pc    int
	local int
	naps  bool
}

func (t *toyThread) Name() string { return t.name }

func (t *toyThread) Offer(into []sim.Action) []sim.Action {
	if t.pc >= len(t.code) || t.naps {
		return into
	}
	in := t.code[t.pc]
	if in.op == "lock" && t.vars[in.v] != 0 || in.op == "recv" && t.vars[in.v] == 0 {
		return into
	}
	return append(into, sim.Action{Class: sim.Work, Actor: t.name, Detail: "w " + in.op + " " + in.v})
}

func (t *toyThread) Take(sim.Action) {
	in := t.code[t.pc]
	t.pc++
	switch in.op {
	case "read":
		t.local = (t.local*3 + t.vars[in.v]) % 7
	case "write":
		t.vars[in.v] = (t.local + in.arg) % 5
	case "lock":
		t.vars[in.v] = 1
	case "unlock":
		t.vars[in.v] = 0
	case "send":
		t.vars[in.v] = (t.vars[in.v] + 1) % 4
	case "recv":
		t.vars[in.v]--
	case "pick":
		t.local = t.w.Pick(in.arg, "value") + 10*t.w.Pick(2, "value")
	case "jump":
		t.pc = in.arg
	case "reset":
		t.local = 0
	case "sleep":
		t.naps = true
		t.w.Clock.After(time.Duration(in.arg)*time.Second, "", "wake "+t.name, func() { t.naps = false })
	case "expect":
		if t.vars[in.v] != in.arg {
			t.w.Record(sim.Record{Op: sim.Refusal, Code: 1, Message: in.v})
		}
	}
}

func (t *toyThread) Footprint(a sim.Action) sim.Footprint {
	in := t.code[t.pc]
	if t.toy.claim {
		return sim.Footprint{Process: t.name}
	}
	switch in.op {
	case "pick", "jump", "reset":
		return sim.Footprint{Process: t.name}
	case "sleep":
		return sim.Footprint{Global: true}
	case "read", "expect":
		return sim.Footprint{Process: t.name, Kind: in.v}
	}
	return sim.Footprint{Process: t.name, Kind: in.v, Write: true}
}

func (t *toyThread) Digest(h *sim.Hash) {
	h.Word(uint64(t.pc))
	h.Word(uint64(t.local))
	h.Bool(t.naps)
}

type toyFaults struct {
	left int
	vars map[string]int
}

func (f *toyFaults) Name() string { return "faults" }
func (f *toyFaults) Offer(into []sim.Action) []sim.Action {
	if f.left == 0 {
		return into
	}
	return append(into, sim.Action{Class: sim.Fault, Actor: "faults", Detail: "spoil v0"})
}
func (f *toyFaults) Take(sim.Action)                    { f.left--; f.vars["v0"] = 7 }
func (f *toyFaults) Footprint(sim.Action) sim.Footprint { return sim.Footprint{Global: true} }
func (f *toyFaults) Digest(h *sim.Hash)                 { h.Word(uint64(f.left)) }

// Digest adds nothing: the state of the law does not matter, because a run ends at the first violation.
func (l *toyLaw) Digest(*sim.Hash) {}

// toyLaw is violated by each failed check.
type toyLaw struct{ violations []Violation }

func (l *toyLaw) Observe(r *sim.Record) {
	if r.Op == sim.Refusal {
		l.violations =
			append(l.violations,
				Violation{Law: "EXPECT-" + r.Message, Text: "unexpected " + r.Message, Informed: true, Step: r.Step})
	}
}

func (toy *toyWorld) start(c sim.Choices) (*sim.World, map[string]int, *toyLaw) {
	w := sim.New(c)
	vars := map[string]int{}
	law := &toyLaw{}
	for i, code := range toy.threads {
		w.Add(&toyThread{w: w, toy: toy, vars: vars, name: fmt.Sprintf("t%d", i), code: code})
	}
	if toy.faults > 0 {
		w.Add(&toyFaults{toy.faults, vars})
	}
	w.Digests = append(w.Digests, func(h *sim.Hash) {
		names := make([]string, 0, len(vars))
		for n := range vars {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if vars[n] != 0 {
				h.String(n)
				h.Word(uint64(vars[n]))
			}
		}
	})
	w.Observers = append(w.Observers, law)
	return w, vars, law
}

func (toy *toyWorld) run(c sim.Choices) *Outcome {
	w, vars, law := toy.start(c)
	limit := toy.limit
	if limit == 0 {
		limit = 10_000
	}
	out := &Outcome{}
	settle := func() bool {
		for w.Steps() < limit && len(law.violations) == 0 {
			if !w.Step() {
				return !Ended(c)
			}
		}
		return false
	}
	out.Settled = settle()
	if out.Settled && toy.acts != nil {
		w.Do("user acts", func() { toy.acts(w, vars) })
		out.Settled = settle()
	}
	out.Steps, out.Hash, out.State = w.Steps(), w.Hash(), w.StateHash()
	out.Findings = law.violations
	if out.Settled && toy.law != "" && vars[toy.law] != toy.wanted {
		out.Findings = append(out.Findings, Violation{Law: "FINAL", Text: "lost update", Step: w.Steps()})
	}
	out.Label = label(vars)
	if !out.Settled {
		out.Label = "unsettled"
	}
	return out
}

func label(vars map[string]int) string {
	var parts []string
	for n, v := range vars {
		parts = append(parts, fmt.Sprintf("%s=%d", n, v))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// adders returns a program with n threads. Each thread adds 1 to v0 without a lock.
func adders(n, lines int) *toyWorld {
	toy := &toyWorld{law: "v0", wanted: n % 5}
	for i := range n {
		code := []instr{{"read", "v0", 0}, {"write", "v0", 1}}
		for j := range lines {
			v := fmt.Sprintf("own%d", i)
			code = append(code, instr{"send", v, j})
		}
		toy.threads = append(toy.threads, code)
	}
	return toy
}

// sleeps reports whether a thread waits for a timer.
func (toy *toyWorld) sleeps() bool {
	return slices.ContainsFunc(toy.threads, func(code []instr) bool {
		return slices.ContainsFunc(code, func(in instr) bool { return in.op == "sleep" })
	})
}

// worlds returns the number of random worlds that a test searches: usual, or long if SOAK is set.
func worlds(usual, long uint64) uint64 {
	if os.Getenv("SOAK") != "" {
		return long
	}
	return usual
}

// randomToy returns the random world of a seed.
func randomToy(seed uint64) *toyWorld {
	s := sim.NewSeed(seed)
	toy := &toyWorld{}
	threads := 2 + s.Pick(2, "")
	cyclic := s.Pick(3, "") == 0
	for range threads {
		var code []instr
		for range 1 + s.Pick(4, "") {
			v := fmt.Sprintf("v%d", s.Pick(3, ""))
			switch s.Pick(12, "") {
			case 0, 1, 2:
				code = append(code, instr{"read", v, 0})
			case 3, 4, 5:
				code = append(code, instr{"write", v, 1 + s.Pick(3, "")})
			case 6:
				code = append(code, instr{"lock", "m", 0}, instr{"read", v, 0}, instr{"write", v, 1},
					instr{"unlock", "m", 0})
			case 7:
				code = append(code, instr{"send", "q", 0})
			case 8:
				code = append(code, instr{"recv", "q", 0})
			case 9:
				code = append(code, instr{"pick", "", 2}, instr{"write", v, 0})
			case 10:
				code = append(code, instr{"sleep", "", 1 + s.Pick(2, "")})
			case 11:
				code = append(code, instr{"expect", v, s.Pick(2, "")})
			}
		}
		if cyclic && s.Pick(2, "") == 0 {
			code = append(code, instr{"reset", "", 0}, instr{"jump", "", s.Pick(len(code), "")})
		}
		toy.threads = append(toy.threads, code)
	}
	toy.faults = max(0, s.Pick(4, "")-2)
	if s.Pick(3, "") == 0 {
		toy.acts = func(w *sim.World, vars map[string]int) {
			vars["v1"]++
			vars["q"]++
			vars["m"] = 0
		}
	}
	return toy
}
