// Package simtest generates worlds and what users do in them, and offers the
// result to property tests and to Go's fuzzer. Everything is drawn from one
// [sim.Choices]: what the world holds, what the user does, and which of the
// enabled actions comes next.
//
// It is imported by tests only: importing it links rapid, which registers
// flags.
package simtest
