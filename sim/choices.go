package sim

import "math/bits"

// Choices is the stream that decides everything. A seed, a recorded list, a fuzzer's bytes, a rapid draw and
// an enumerator implement it. So random testing, fuzzing, replay, shrinking and exhaustive search are one
// program with different sources.
type Choices interface {
	// Pick returns a number in [0, n), with n at least 1. The label names the decision.
	Pick(n int, label string) int
}

// Chooser is a [Choices] that sees the enabled actions, not only their number: PCT, replay by key, sleep
// sets.
type Chooser interface {
	Choices
	// Next returns the index of the action to take. A negative number ends the run before the step.
	Next(w *World, enabled []Action) int
}

// comparer is a [Chooser] that may compare states while the world runs: see [World.StateHash].
type comparer interface {
	ComparesStates() bool
}

// Zero always picks the first alternative: the default schedule.
type Zero struct{}

// Pick returns 0.
func (Zero) Pick(int, string) int { return 0 }

// Seed draws uniformly with SplitMix64. So a seed means the same schedule on every machine and with every
// release of Go.
type Seed struct{ state uint64 }

// NewSeed returns the stream of a seed.
func NewSeed(seed uint64) *Seed { return &Seed{state: seed} }

func (s *Seed) Pick(n int, _ string) int {
	if n <= 1 {
		return 0
	}
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int(hi)
}

// Uint64 returns the next 64 bits of the stream.
func (s *Seed) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return mix(s.state)
}

// Bytes reads a fuzzer's bytes, one for each choice of up to 256 alternatives, then picks 0. Choices without
// an alternative consume nothing, so every byte matters to the fuzzer.
type Bytes struct {
	Data []byte
	pos  int
}

// Pick returns the next byte modulo n.
func (b *Bytes) Pick(n int, _ string) int {
	if n <= 1 || b.pos >= len(b.Data) {
		return 0
	}
	v := int(b.Data[b.pos])
	b.pos++
	if n > 256 && b.pos < len(b.Data) {
		v = v<<8 | int(b.Data[b.pos])
		b.pos++
	}
	return v % n
}
